import type { ClientAccount } from '../../auth/accounts/clients/store.ts'
import type { AccountsRequest, FoundAccounts } from '../../auth/accounts/query.ts'
import type { UserAccount } from '../../auth/accounts/users/store.ts'
import { formatInstant, formatInstantOrNull } from '../../clock.ts'
import { pageLimitMilliseconds, type QueryOptions, type ReadableDatabase } from '../../db/port.ts'
import type { Run } from '../command.ts'
import { withDatabaseToRead } from '../database.ts'
import { printAll, tablePrinter } from '../output.ts'

interface AccountList<Item> {
  find: (db: ReadableDatabase, wanted: AccountsRequest, options: QueryOptions) => Promise<FoundAccounts<Item>>
  headings: string[]
  cellsOf: (item: Item) => string[]
  toValue: (item: Item) => unknown
}

/** `user list` and `client list`: printed in batches, however many accounts there are. */
const runList =
  <Item extends { id: number }>(list: AccountList<Item>): Run =>
  async (invocation) => {
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

const rolesCell = ({ roles }: Listed) => roles.join(', ') || '-'

const stateCell = ({ enabled, demo }: Listed) => `${enabled ? 'enabled' : 'disabled'}${demo ? ', demo' : ''}`

export const listUsers = runList<UserAccount>({
  find: (db, wanted, options) => db.query('findUsers', wanted, options),
  headings: ['ID', 'USER NAME', 'EMAIL', 'ROLES', 'TIME ZONE', 'LAST SIGN-IN', 'STATE'],
  cellsOf: (user) => [
    String(user.id),
    user.userName,
    user.email,
    rolesCell(user),
    user.timeZone ?? '-',
    formatInstantOrNull(user.lastSignInAt) ?? '-',
    stateCell(user) +
      (user.hasPassword ? '' : ', no password') +
      (user.hasCompanyAccount ? ', company account' : ''),
  ],
  toValue: ({ version: _, createdAt, lastSignInAt, ...user }) => ({
    ...user,
    lastSignInAtUtc: formatInstantOrNull(lastSignInAt),
    createdAtUtc: formatInstant(createdAt),
  }),
})

export const listClients = runList<ClientAccount>({
  find: (db, wanted, options) => db.query('findClients', wanted, options),
  headings: ['ID', 'CLIENT ID', 'ROLES', 'SECRETS', 'OWNER', 'STATE'],
  cellsOf: (client) => [
    String(client.id),
    client.clientId,
    rolesCell(client),
    String(client.secrets),
    client.owner ?? '-',
    stateCell(client),
  ],
  toValue: ({ version: _, endsAt, lastUsedAt, createdAt, ...client }) => ({
    ...client,
    endsAtUtc: formatInstantOrNull(endsAt),
    lastUsedAtUtc: formatInstantOrNull(lastUsedAt),
    createdAtUtc: formatInstant(createdAt),
  }),
})
