import type { AccountKind, AccountReference } from '../auth/accounts/store.ts'
import { type Invocation, type Outcome, requiredArgument } from './command.ts'
import { commandStamp, withDatabase } from './database.ts'
import { UsageError } from './failures.ts'
import { givenRoles, spellRoles } from './role-names.ts'

/** `user` and `client` `disable` and `enable`. Repeating one is no failure; `changed` tells. */
export const runSetEnabled = (kind: AccountKind, enabled: boolean) => async (invocation: Invocation) => {
  const { account } = named(kind, invocation)
  const { name, changed } = await withDatabase(invocation, (db) =>
    db.write('setAccountEnabled', { account, enabled, stamp: commandStamp() }),
  )
  const state = enabled ? 'enabled' : 'disabled'
  return {
    value: { [nameMember[kind]]: name, enabled, changed },
    text: changed ? `${name} is ${state}.` : `${name} is ${state} already.`,
  }
}

/** `user` and `client` `grant` and `revoke`. Repeating one is no failure; `changed` tells which roles moved. */
export const runChangeRoles =
  (kind: AccountKind, operation: 'grantRoles' | 'revokeRoles') =>
  async (invocation: Invocation): Promise<Outcome> => {
    const { account, rest } = named(kind, invocation)
    const given = givenRoles(invocation, rest)
    const { name, changed, roles } = await withDatabase(invocation, async (db) => {
      const roles = await spellRoles(db, given)
      return db.write(operation, { account, roles, stamp: commandStamp() })
    })
    const state = roles.length === 0 ? 'no roles' : roles.join(', ')
    return {
      value: { [nameMember[kind]]: name, changed, roles },
      text: changed.length === 0 ? `Nothing to change: ${name} has ${state}.` : `${name} has ${state}.`,
    }
  }

/** Names in JSON are those of the contract. */
const nameMember = { user: 'userName', client: 'clientId' }

/** The account that a command line names, and the arguments after it. */
function named(kind: AccountKind, invocation: Invocation): { account: AccountReference; rest: string[] } {
  if (kind === 'user') return namedUser(invocation)
  const name = requiredArgument(invocation, 0, 'the client id')
  return { account: { kind, name }, rest: invocation.positionals.slice(1) }
}

/** One user by --email, --user-name or the first argument; `rest` are the arguments after it. */
export function namedUser(invocation: Invocation): { account: AccountReference<'user'>; rest: string[] } {
  const { email, 'user-name': userName } = invocation.texts
  if (email !== undefined && userName !== undefined) {
    throw new UsageError('--email and --user-name both name the user: give one')
  }
  const option = email ?? userName
  const [first, ...others] = invocation.positionals
  const name = option ?? first
  if (name === undefined || name === '')
    throw new UsageError('the user is missing: give an email or a user name')
  const rest = option === undefined ? others : invocation.positionals
  const isEmail = email !== undefined || name.includes('@')
  return { account: isEmail ? { kind: 'user', email: name } : { kind: 'user', name }, rest }
}
