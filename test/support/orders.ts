import { randomUUID } from 'node:crypto'
import Sqlite from 'better-sqlite3'
import type { Selectable } from 'kysely'
import type { OrdersTable } from '../../server/db/tables.ts'
import { foldText } from '../../server/orders/fold.ts'
import type { Client } from './client.ts'
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

/** Puts rows in past the API: for bulk, and for rows that no request makes. */
export function insertOrders(service: Service, rows: OrderRow[]): OrderRow[] {
  withDatabase(service, (db) => {
    const names = Object.keys(orderRow())
    const insert = db.prepare(
      `insert into orders (${names.join(', ')}) values (${names.map((name) => `@${name}`).join(', ')})`,
    )
    db.transaction(() => {
      for (const row of rows) insert.run(row)
    })()
  })
  return rows
}

/** Must come before the user's first request: the service may remember a principal for five minutes. */
export function setTimeZone(service: Service, email: string, timeZone: string): void {
  withDatabase(service, (db) =>
    db.prepare('update users set time_zone = ? where email = ?').run(timeZone, email),
  )
}

function withDatabase(service: Service, work: (db: Sqlite.Database) => void): void {
  const db = new Sqlite(service.databaseUrl.slice('file:'.length))
  try {
    work(db)
  } finally {
    db.close()
  }
}

/** Everything that a request to the orders may write. */
export async function storedState({ db }: Service): Promise<{ orders: OrderRow[]; keys: unknown[] }> {
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
