/** Invented accounts and orders. Only development and the command `seed` make them. */

import { type AddClientInput, addClient } from '../auth/accounts/clients/clients.ts'
import { lockAdministration } from '../auth/accounts/roles/administrators.ts'
import { hasAccounts } from '../auth/accounts/store.ts'
import { type AddUserInput, addUser } from '../auth/accounts/users/users.ts'
import type { Passwords } from '../auth/credentials/passwords/passwords.ts'
import { machineStamp } from '../caller/stamp.ts'
import type { Config } from '../config.ts'
import { databaseFile } from '../db/address.ts'
import type { Db, Trx } from '../db/tables.ts'
import { sha256 } from '../ids.ts'
import { addOrders, type MadeOrders } from '../orders/orders.ts'
import { hasOrders } from '../orders/store.ts'
import { makeOrders } from './orders.ts'

/** Published on purpose. They exist in development only, and production does not start with them. */
export const demoAccounts = [
  { userName: 'admin', email: 'admin@example.com', password: 'countersign-demo-admin', role: 'Admin' },
  {
    userName: 'operator',
    email: 'operator@example.com',
    password: 'countersign-demo-operator',
    role: 'Operator',
  },
  { userName: 'viewer', email: 'viewer@example.com', password: 'countersign-demo-viewer', role: 'Viewer' },
  {
    userName: 'approver',
    email: 'approver@example.com',
    password: 'countersign-demo-approver',
    role: 'Admin',
  },
] as const

/** As JSON, the accounts whose passwords are still those above; undefined if there is none. */
export async function publishedAccounts(db: Db): Promise<string | undefined> {
  const rows = await db
    .selectFrom('users')
    .innerJoin('principals', 'principals.id', 'users.principal_id')
    .select('email')
    .where('demo', '=', 1)
    .where('enabled', '=', 1)
    .execute()
  const published = demoAccounts.filter((account) => rows.some(({ email }) => email === account.email))
  return published.length === 0 ? undefined : JSON.stringify(published)
}

export const demoClient = {
  clientId: 'demo-service',
  clientSecret: 'countersign-demo-service-secret',
  role: 'Operator',
} as const

/**
 * 250 orders by the demo accounts, all within the 90 days that the overview can show. Nobody approved their
 * own.
 */
export function demoOrders(nowMilliseconds: number): MadeOrders[] {
  const people = { creators: ['operator', 'operator', 'admin', 'demo-service'], approver: 'approver' }
  return [...makeOrders({ count: 250, days: 89, nowMilliseconds, people, batchRows: 250 })]
}

export interface SeedDemoInput {
  users: AddUserInput[]
  client: AddClientInput
  orders: MadeOrders[]
}

/** Whether the database has no accounts and no orders, so that `prepareDemo` is worth its cost. */
export async function isUnseeded(db: Db): Promise<boolean> {
  return !(await hasAccounts(db)) && !(await hasOrders(db))
}

/** Everything that `seedDemo` writes. */
export async function prepareDemo(options: {
  nowMilliseconds: number
  passwords: Pick<Passwords, 'hash'>
  demoOrders: boolean
}): Promise<SeedDemoInput> {
  const { nowMilliseconds, passwords } = options
  const marked = () => ({ demo: true, stamp: machineStamp(nowMilliseconds) })
  const users = demoAccounts.map(async ({ password, role, ...user }) => ({
    ...marked(),
    ...user,
    timeZone: null,
    roles: [role],
    passwordHash: await passwords.hash(password),
  }))
  const { clientId, clientSecret, role } = demoClient
  return {
    users: await Promise.all(users),
    client: { ...marked(), clientId, secretHash: sha256(clientSecret), roles: [role] },
    orders: options.demoOrders ? demoOrders(nowMilliseconds) : [],
  }
}

/**
 * Fills an empty database for development, with accounts marked `demo`, and leaves any other alone. If two
 * instances start at once, the second waits for the lock, finds the accounts and seeds nothing.
 */
export async function seedDemo(
  trx: Trx,
  { users, client, orders }: SeedDemoInput,
): Promise<{ seeded: boolean }> {
  await lockAdministration(trx, client.stamp)
  if (!(await isUnseeded(trx))) return { seeded: false }
  const ids = new Map<string, number>()
  for (const user of users) {
    const { id } = await addUser(trx, user)
    ids.set(user.userName, id)
  }
  ids.set(client.clientId, (await addClient(trx, client)).id)
  for (const made of orders) await addOrders(trx, byAccounts(made, ids))
  return { seeded: true }
}

/**
 * The same orders and events, attributed to the accounts with those names, so that a creator can withdraw an
 * order.
 */
function byAccounts({ orders, events }: MadeOrders, ids: ReadonlyMap<string, number>): MadeOrders {
  return {
    orders: orders.map((row) => ({ ...row, created_by_id: ids.get(row.created_by ?? '') ?? null })),
    events: events.map(({ stamp, ...event }) => ({
      ...event,
      stamp: { ...stamp, byId: ids.get(stamp.by) ?? null, isService: stamp.by === demoClient.clientId },
    })),
  }
}

/** Where to look and how to sign in, for a person who started a development server. */
export function announceDemo(config: Config, base: string): void {
  const row = (who: string, secret: string, role: string) =>
    `    ${who.padEnd(22)} ${secret.padEnd(32)} ${role}`
  const lines = [
    '',
    `  Countersign (development)   ${base}`,
    `  API browser                 ${base}/scalar/v1`,
    `  Data                        ${databaseFile(config.database.databaseUrl) ?? 'in the server of DATABASE_URL'}`,
    '',
    '  Sign in with                password',
    ...demoAccounts.map(({ email, password, role }) => row(email, password, role)),
    '  As a service                secret',
    row(demoClient.clientId, demoClient.clientSecret, demoClient.role),
    '',
    ...(config.allowRemoteDemo
      ? ['  WARNING: these accounts are public, and --allow-remote-demo lets the whole network use them.', '']
      : []),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
