import type { AccountKind, AccountReference } from '../auth/accounts/store.ts'
import { type Invocation, type Outcome, requiredArgument, splitCommas } from './command.ts'
import { commandStamp, withDatabase } from './database.ts'
import { UsageError } from './failures.ts'
import { spellRoles } from './roles.ts'

/** `user` and `client` `disable` and `enable`. Repeating one is no failure: `changed` is then false. */
export const runSetEnabled = (kind: AccountKind, enabled: boolean) => async (invocation: Invocation) => {
  const { account } = named(kind, invocation)
  const { name, changed } = await withDatabase(invocation, (db) =>
    db.write('setAccountEnabled', { account, enabled, stamp: commandStamp() }),
  )
  const state = enabled ? 'enabled' : 'disabled'
  return {
    value: { [nameMember[kind]]: name, enabled, changed },
    text: changed ? `${name} is ${state}.` : `${name} is already ${state}.`,
  }
}

/** `user` and `client` `grant` and `revoke`. Repeating one is no failure: `changed` lists the roles moved. */
export const runChangeRoles =
  (kind: AccountKind, operation: 'grantRoles' | 'revokeRoles') =>
  async (invocation: Invocation): Promise<Outcome> => {
    const { account, rest } = named(kind, invocation)
    const given = [...splitCommas(rest), ...(invocation.lists.role ?? [])]
    if (given.length === 0) throw new UsageError('a role is missing')
    const { name, changed, roles } = await withDatabase(invocation, async (db) =>
      db.write(operation, { account, roles: await spellRoles(db, given), stamp: commandStamp() }),
    )
    const state = `${name} has ${roles.join(', ') || 'no roles'}.`
    return {
      value: { [nameMember[kind]]: name, changed, roles },
      text: changed.length === 0 ? `Nothing to change: ${state}` : state,
    }
  }

/** Names in JSON are those of the contract. */
const nameMember = { user: 'userName', client: 'clientId' }

/** The account that a command line names, and the arguments after it. */
interface Named<Kind extends AccountKind> {
  account: AccountReference<Kind>
  rest: string[]
}

function named(kind: AccountKind, invocation: Invocation): Named<AccountKind> {
  if (kind === 'user') return namedUser(invocation)
  return { account: namedClient(invocation), rest: invocation.positionals.slice(1) }
}

export function namedClient(invocation: Invocation): AccountReference<'client'> {
  return { kind: 'client', name: requiredArgument(invocation, 0, 'the client id') }
}

/** A user is named by --email, --user-name or the first argument. */
export function namedUser({ texts, positionals }: Invocation): Named<'user'> {
  const { email, 'user-name': userName } = texts
  if (email !== undefined && userName !== undefined) {
    throw new UsageError('--email and --user-name both name the user: give one')
  }
  const option = email ?? userName
  const [first, ...others] = positionals
  const name = option ?? first
  if (!name) throw new UsageError('the user is missing: give an email or a user name')
  const isEmail = email !== undefined || name.includes('@')
  return {
    account: isEmail ? { kind: 'user', email: name } : { kind: 'user', name },
    rest: option === undefined ? others : positionals,
  }
}

interface Listed {
  roles: string[]
  enabled: boolean
  demo: boolean
}

export const rolesCell = ({ roles }: Listed) => roles.join(', ') || '-'

export const stateCell = ({ enabled, demo }: Listed) =>
  `${enabled ? 'enabled' : 'disabled'}${demo ? ', demo' : ''}`
