import { after, before } from 'node:test'
import { type Kysely, sql } from '#kysely'
import type { Stamp } from '../../server/caller/stamp.ts'
import type { Database } from '../../server/db/tables.ts'
import { instantOfId, newOrderedId, newSalt } from '../../server/ids.ts'
import { parseFilter } from '../../server/orders/filter/parser.ts'
import { foldText } from '../../server/orders/fold.ts'
import type { ListRequest } from '../../server/orders/list/plan.ts'
import type { SortKey } from '../../server/orders/order.ts'
import { firstRules, storedRules } from '../../server/orders/rules.ts'
import { insertRows, type OrderRow as NewRow } from '../../server/orders/store.ts'
import type { Client } from './client.ts'
import { testEngine, withRawDatabase } from './database.ts'
import { storedEvents } from './kept-log.ts'
import { exchange, request } from './raw.ts'
import type { Service } from './service.ts'

/** Without a number, unless a test gives one: the database assigns it. */
export type OrderRow = NewRow & { number?: number }

/** The id of the nth order among those created at that instant. */
export function orderIdAt(milliseconds: number, number: number): string {
  const digits = milliseconds.toString(16).padStart(12, '0') + (0x70000 + number).toString(16)
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 13)}${digits.slice(14)}-8000-000000000000`
}

/** A pending order of 1.00 with a new id. An approved one has the one approval it needs. */
export function orderRow(given: Partial<OrderRow> = {}): OrderRow {
  const customer = given.customer ?? 'Acme'
  const created_at = given.created_at ?? (given.id ? instantOfId(given.id) : Date.UTC(2026, 0, 1))
  return {
    id: newOrderedId(created_at),
    customer,
    customer_folded: foldText(customer),
    total_e4: 10_000,
    status: 0,
    created_at,
    created_at_time_zone: 'UTC',
    created_by: 'operator',
    created_by_id: null,
    created_by_owner_id: null,
    ...storedRules(firstRules),
    approvals_given: given.status === 1 ? 1 : 0,
    role_held: 0,
    approved_by: null,
    replaces: null,
    replaced_by: null,
    updated_at: null,
    updated_at_time_zone: null,
    modified_by: null,
    version: 1,
    ...given,
  }
}

/** A table of orders alone, in memory, without the constraints that keep odd values out. */
export async function fillBareTable(db: Kysely<Database>, rows: OrderRow[]): Promise<void> {
  const columns = Object.entries({ number: 1, ...orderRow() }).map(([name, value]) => {
    const type = typeof value === 'number' ? 'integer' : 'text'
    return `${name} ${value === null ? 'any' : type}`
  })
  await sql.raw(`create table orders (${columns.join(', ')}) strict`).execute(db)
  await db.insertInto('orders').values(rows).execute()
}

/** A page of 20 from the offset, unless it is null. */
export function listRequest(
  filter: string,
  sortKey: SortKey = 'createdAtUtc',
  offset: number | null = 0,
): ListRequest {
  const page = offset === null ? null : { offset, limit: 20 }
  return { filter: parseFilter(filter), sortKey, direction: 'desc', page }
}

/** The stamp of an operation that no account requested. */
export function stamp(given: Partial<Stamp> = {}): Stamp {
  const nowMilliseconds = given.nowMilliseconds ?? 1
  return {
    eventId: newOrderedId(nowMilliseconds),
    seed: newSalt(),
    nowMilliseconds,
    timeZone: 'UTC',
    by: 'machine:test',
    byId: null,
    ...given,
  }
}

/** Whether a name has a letter, digit, punctuation mark or symbol that is visible on the screen. */
export function canBeSeen(name: string): boolean {
  const isUnseen = (character: string) =>
    /[\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{13441}\u{13442}\u{1d159}]/u.test(character)
  return [...name].some((character) => /[\p{L}\p{N}\p{P}\p{S}]/u.test(character) && !isUnseen(character))
}

const rowsPerInsert = 500

/** Inserts rows without the API, in bulk or as no request would make them. */
export function insertOrders(
  { databaseUrl }: Pick<Service, 'databaseUrl'>,
  rows: OrderRow[],
): Promise<OrderRow[]> {
  return withRawDatabase(databaseUrl, async (db) => {
    for (let start = 0; start < rows.length; start += rowsPerInsert) {
      await insertRows(db, rows.slice(start, start + rowsPerInsert))
    }
    return rows
  })
}

/**
 * Holds exactly these orders during a describe, as if the database had never had others: SQLite also stores
 * whether its row numbers follow the order of creation.
 */
export function onlyOrders(service: Service, rows: OrderRow[] = []): void {
  before(() => replaceOrders(service, rows))
  after(() => replaceOrders(service, []))
}

export async function replaceOrders(service: Service, rows: OrderRow[]): Promise<void> {
  await withRawDatabase(service.databaseUrl, async (db) => {
    await db.deleteFrom('order_approvals').execute()
    await db.deleteFrom('orders').execute()
    if (testEngine === 'sqlite') await sql`update order_numbers set in_order = 1`.execute(db)
  })
  await insertOrders(service, rows)
}

/** Must come before the user's first request: the service may remember a principal for five minutes. */
export async function setTimeZone(service: Service, email: string, timeZone: string): Promise<void> {
  await withRawDatabase(service.databaseUrl, (db) =>
    db.updateTable('users').set({ time_zone: timeZone }).where('email', '=', email).execute(),
  )
}

/** Everything that a request about orders may write. Sealing an event does not change it. */
export async function storedState({ db: { read } }: Service) {
  const events = await storedEvents(read)
  return {
    orders: (await read.selectFrom('orders').selectAll().orderBy('id').execute()) as OrderRow[],
    keys: await read.selectFrom('idempotency_keys').selectAll().orderBy('key').execute(),
    approvals: await read.selectFrom('order_approvals').selectAll().orderBy('order_id').execute(),
    events: events.map(({ sequence: _, hash: __, ...event }) => event),
  }
}

/** The id of a new order. */
export async function createdId(caller: Client, values: Record<string, unknown> = {}): Promise<string> {
  const answer = await caller.post('/v1/orders', { customer: 'Acme', total: 1, ...values })
  return answer.body.id
}

/** Sends path and header lines exactly as given, where `fetch` would correct, drop or join them. */
export function sendExactly(caller: Client, method: string, path: string, lines: string[] = [], body = '') {
  const authorization = `Authorization: ${caller.headers.authorization}`
  return exchange(caller.baseUrl, request(method, path, [authorization, ...lines], body))
}

export const sortKeys = ['createdAtUtc', 'updatedAtUtc', 'customer', 'total', 'status', 'id'] as const

const sortValues: Record<(typeof sortKeys)[number], (row: OrderRow) => string | number | null> = {
  createdAtUtc: (row) => row.id,
  updatedAtUtc: (row) => row.updated_at,
  customer: (row) => foldText(row.customer),
  total: (row) => row.total_e4,
  status: (row) => row.status,
  id: (row) => row.id,
}

/**
 * The order of a list by the contract: code points, null first, ties by id in the same direction.
 */
export function compareOrders(
  key: (typeof sortKeys)[number],
  direction: 'Asc' | 'Desc',
): (a: OrderRow, b: OrderRow) => number {
  const sign = direction === 'Asc' ? 1 : -1
  const value = sortValues[key]
  return (a, b) => {
    const [x, y] = [value(a), value(b)]
    const nulls = Number(y === null) - Number(x === null)
    return sign * (nulls || compareValues(x, y) || compareValues(a.id, b.id))
  }
}

function compareValues(x: string | number | null, y: string | number | null): number {
  if (typeof x === 'string' && typeof y === 'string') return Buffer.compare(Buffer.from(x), Buffer.from(y))
  return Number(x) - Number(y)
}

/** U+E000 sorts before astral characters by code point and after them by UTF-16 unit. */
const variedCustomers = [
  ...['Zebra', 'zebra', 'Äpfel', 'apfel', 'APFEL 2', 'Straße', 'STRASSE', 'İnci'],
  ...['😀', '\ue000', '10', '9', 'Ωmega'],
  ...['éclair', 'e\u0301clair'.normalize('NFC'), '_x', '~x', 'Ａ１', 'Say "yes" or "no"', '""'],
]
const variedCreators = ['alice', 'Bob', 'carol', 'Zoe', 'ALICE', null, 'a.b', 'a_b']

/** Rows with many ties and nulls in every sort key. */
export function variedOrders(count: number): OrderRow[] {
  return Array.from({ length: count }, (_, index) =>
    orderRow({
      id: orderIdAt(Date.UTC(2026, 0, 1) + ((index * 5) % 9) * 1_000, index),
      customer: variedCustomers[(index * 7) % variedCustomers.length] ?? '',
      total_e4: 10_000 + ((index * 13) % 11) * 2_500,
      status: index % 3 === 0 ? 1 : 0,
      created_by: variedCreators[(index * 3) % variedCreators.length] ?? null,
      updated_at: index % 3 === 0 ? Date.UTC(2026, 0, 2) + (index % 4) * 1_000 : null,
      modified_by: index % 3 === 0 ? 'admin' : null,
      version: index % 3 === 0 ? 2 : 1,
    }),
  )
}
