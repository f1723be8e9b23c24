import type { AccountsRequest, FoundAccounts } from '../auth/accounts/query.ts'
import type { AccountKind, AccountReference } from '../auth/accounts/store.ts'
import { pageLimitMilliseconds, type QueryOptions, type ReadableDatabase } from '../db/port.ts'
import { type Invocation, type Outcome, requiredArgument, splitCommas } from './command.ts'
import { commandStamp, withDatabase, withDatabaseToRead } from './database.ts'
import { UsageError } from './failures.ts'
import { printAll, tablePrinter } from './output.ts'
import { spellRoles } from './roles.ts'

/**
 * `user` and `client` `disable` and `enable`. Repeating a command is not an error: `changed` is then false.
 */
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

/**
 * `user` and `client` `grant` and `revoke`. Repeating one is not an error: `changed` lists only roles that
 * moved.
 */
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
  return {
    account: email === undefined ? referenceTo(name) : { kind: 'user', email },
    rest: option === undefined ? others : positionals,
  }
}

/** A user by email or user name; only an email has an @. */
export function referenceTo(name: string): AccountReference<'user'> {
  return name.includes('@') ? { kind: 'user', email: name } : { kind: 'user', name }
}

interface AccountList<Item> {
  find: (db: ReadableDatabase, wanted: AccountsRequest, options: QueryOptions) => Promise<FoundAccounts<Item>>
  headings: string[]
  cellsOf: (item: Item) => string[]
  toValue: (item: Item) => unknown
}

/** `user list` and `client list`: printed in batches, however many accounts there are. */
export const runList =
  <Item extends { id: number }>(list: AccountList<Item>) =>
  async (invocation: Invocation): Promise<Outcome> => {
    const filter = invocation.texts.filter || null
    await withDatabaseToRead(invocation, async (db) => {
      const batches = batchesOf(db, list, filter)
      const texts = invocation.switches.has('json') ? asJson(batches, list) : asTable(batches, list)
      await printAll(texts)
    })
    return { value: undefined, text: '' }
  }

const batchAccounts = 1_000

async function* batchesOf<Item extends { id: number }>(
  db: ReadableDatabase,
  { find }: AccountList<Item>,
  filter: string | null,
): AsyncGenerator<Item[]> {
  const options = { limitMilliseconds: pageLimitMilliseconds, caller: 'list' }
  let last: Item | undefined
  do {
    const wanted = { filter, afterId: last?.id ?? 0, offset: 0, limit: batchAccounts }
    const { items } = await find(db, wanted, options)
    if (items.length > 0 || last === undefined) yield items
    last = items[batchAccounts - 1]
  } while (last !== undefined)
}

async function* asTable<Item>(batches: AsyncIterable<Item[]>, { headings, cellsOf }: AccountList<Item>) {
  const print = tablePrinter(headings)
  for await (const items of batches) yield `${print(items.map(cellsOf))}\n`
}

async function* asJson<Item>(batches: AsyncIterable<Item[]>, { toValue }: AccountList<Item>) {
  let before = '['
  for await (const items of batches) {
    for (const item of items) {
      yield before + JSON.stringify(toValue(item))
      before = ','
    }
  }
  yield before === '[' ? '[]\n' : ']\n'
}

interface Listed {
  roles: string[]
  enabled: boolean
  demo: boolean
}

export const rolesCell = ({ roles }: Listed) => roles.join(', ') || '-'

export const stateCell = ({ enabled, demo }: Listed) =>
  `${enabled ? 'enabled' : 'disabled'}${demo ? ', demo' : ''}`
