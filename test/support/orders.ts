import { randomUUID } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { IdempotencyKeysTable, OrdersTable } from '../../server/db/tables.ts'
import { foldText } from '../../server/orders/fold.ts'
import type { Client } from './client.ts'
import { withRawDatabase } from './database.ts'
import { exchange, request } from './raw.ts'
import type { Service } from './service.ts'

export type OrderRow = Selectable<OrdersTable>

/** A pending order of 1.00 with an id of its own. */
export function orderRow(given: Partial<OrderRow> = {}): OrderRow {
  const customer = given.customer ?? 'Acme'
  return {
    id: randomUUID(),
    customer,
    customer_folded: foldText(customer),
    total_e4: 10_000,
    status: 0,
    created_at: Date.UTC(2026, 0, 1),
    created_at_time_zone: 'UTC',
    created_by: 'operator',
    updated_at: null,
    updated_at_time_zone: null,
    modified_by: null,
    version: 1,
    ...given,
  }
}

const rowsPerInsert = 500

/** Puts rows in past the API: for bulk, and for rows that no request makes. */
export function insertOrders(service: Service, rows: OrderRow[]): Promise<OrderRow[]> {
  return withRawDatabase(service.databaseUrl, async (db) => {
    for (let start = 0; start < rows.length; start += rowsPerInsert) {
      await db
        .insertInto('orders')
        .values(rows.slice(start, start + rowsPerInsert))
        .execute()
    }
    return rows
  })
}

/** Must come before the user's first request: the service may remember a principal for five minutes. */
export async function setTimeZone(service: Service, email: string, timeZone: string): Promise<void> {
  await withRawDatabase(service.databaseUrl, (db) =>
    db.updateTable('users').set({ time_zone: timeZone }).where('email', '=', email).execute(),
  )
}

/** Everything that a request to the orders may write. */
export async function storedState({
  db,
}: Service): Promise<{ orders: OrderRow[]; keys: Selectable<IdempotencyKeysTable>[] }> {
  const orders = await db.read.selectFrom('orders').selectAll().orderBy('id').execute()
  const keys = await db.read.selectFrom('idempotency_keys').selectAll().orderBy('key').execute()
  return { orders, keys }
}

/** The id of a new order. */
export async function createdId(caller: Client, values: Record<string, unknown> = {}): Promise<string> {
  const answer = await caller.post('/v1/orders', { customer: 'Acme', total: 1, ...values })
  return answer.body.id
}

/** The request's path and header lines exactly as given, where `fetch` would mend, drop or join them. */
export function sendExactly(caller: Client, method: string, path: string, lines: string[] = [], body = '') {
  const authorization = `Authorization: ${caller.headers.authorization}`
  return exchange(caller.baseUrl, request(method, path, [authorization, ...lines], body))
}

export const sortKeys = [
  'createdAtUtc',
  'updatedAtUtc',
  'customer',
  'total',
  'status',
  'createdBy',
  'id',
] as const

const sortValues: Record<(typeof sortKeys)[number], (row: OrderRow) => string | number | null> = {
  createdAtUtc: (row) => row.created_at,
  updatedAtUtc: (row) => row.updated_at,
  customer: (row) => foldText(row.customer),
  total: (row) => row.total_e4,
  status: (row) => row.status,
  createdBy: (row) => row.created_by && foldText(row.created_by),
  id: (row) => row.id,
}

/** The order of a listing as the contract has it: code points, nulls last both ways, ties by id, same direction. */
export function compareOrders(
  key: (typeof sortKeys)[number],
  direction: 'Asc' | 'Desc',
): (a: OrderRow, b: OrderRow) => number {
  const sign = direction === 'Asc' ? 1 : -1
  const value = sortValues[key]
  return (a, b) => {
    const [x, y] = [value(a), value(b)]
    const nulls = Number(x === null) - Number(y === null)
    return nulls || sign * (compareValues(x, y) || compareValues(a.id, b.id))
  }
}

function compareValues(x: string | number | null, y: string | number | null): number {
  if (typeof x === 'string' && typeof y === 'string') return Buffer.compare(Buffer.from(x), Buffer.from(y))
  return Number(x) - Number(y)
}

/** U+E000 sorts before astral characters by code point and after them by UTF-16 unit. */
const variedCustomers = [
  ...[
    'Zebra',
    'zebra',
    'Äpfel',
    'apfel',
    'APFEL 2',
    'Straße',
    'STRASSE',
    'İnci',
    '😀',
    '\ue000',
    '10',
    '9',
    'Ωmega',
  ],
  ...['éclair', 'e\u0301clair'.normalize('NFC'), '_x', '~x', 'Ａ１', 'Say "yes" or "no"', '""'],
]
const variedCreators = ['alice', 'Bob', 'carol', 'Zoe', 'ALICE', null, 'a.b', 'a_b']

/** Rows with many ties and nulls in every sort key. */
export function variedOrders(count: number): OrderRow[] {
  return Array.from({ length: count }, (_, index) =>
    orderRow({
      customer: variedCustomers[(index * 7) % variedCustomers.length] ?? '',
      total_e4: 10_000 + ((index * 13) % 11) * 2_500,
      status: index % 3 === 0 ? 1 : 0,
      created_at: Date.UTC(2026, 0, 1) + ((index * 5) % 9) * 1_000,
      created_by: variedCreators[(index * 3) % variedCreators.length] ?? null,
      updated_at: index % 3 === 0 ? Date.UTC(2026, 0, 2) + (index % 4) * 1_000 : null,
      modified_by: index % 3 === 0 ? 'admin' : null,
      version: index % 3 === 0 ? 2 : 1,
    }),
  )
}
