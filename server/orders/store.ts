import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { prepared } from '../db/prepared.ts'
import type { Database, OrdersTable } from '../db/tables.ts'
import { instantOfId } from '../ids.ts'
import { foldText } from './fold.ts'
import {
  type FieldName,
  fieldNames,
  type Order,
  type OrderStatus,
  orderColumns,
  orderFields,
  orderStatus,
} from './order.ts'
import { type GroupedOrder, insertTogether } from './postgres.ts'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The stored form of an order id, or undefined for what is no UUID (then there is no such order). */
export function parseOrderId(text: string): string | undefined {
  const id = text.toLowerCase()
  return uuidPattern.test(id) ? id : undefined
}

export interface NewOrder {
  /** It tells when the order was created. */
  id: string
  customer: string
  totalE4: number
  createdAtTimeZone: string
  createdBy: string
}

export async function insertOrder(trx: Transaction<Database>, order: NewOrder): Promise<void> {
  await insertRow(trx, toRow(order))
}

/** Rows as they are, in one statement. */
export async function addOrders(trx: Transaction<Database>, rows: readonly OrdersTable[]): Promise<void> {
  await trx.insertInto('orders').values(rows).execute()
}

/** Those whose key is new, in one statement; no two may have the same key. Returns their ids. */
export function insertOrders(
  trx: Transaction<Database>,
  orders: { order: NewOrder; key: GroupedOrder['key'] }[],
): Promise<Set<string>> {
  return insertTogether(
    trx,
    orders.map(({ order, key }) => ({ order: toRow(order), key })),
  )
}

const insertRow = prepared(
  (
    _db,
    row: OrdersTable,
  ) => sql`insert into orders (${sql.join(orderColumns.map((column) => sql.ref(column)))})
    values (${sql.join(orderColumns.map((column) => row[column]))})`,
)

function toRow(order: NewOrder): OrdersTable {
  return {
    id: order.id,
    customer: order.customer,
    customer_folded: foldText(order.customer),
    total_e4: order.totalE4,
    status: orderStatus.Pending,
    created_at: instantOfId(order.id),
    created_at_time_zone: order.createdAtTimeZone,
    created_by: order.createdBy,
    updated_at: null,
    updated_at_time_zone: null,
    modified_by: null,
    version: 1,
  }
}

export async function hasOrders(db: Kysely<Database>): Promise<boolean> {
  return (await db.selectFrom('orders').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** Columns under the names of their fields. */
export function columnsOf(names: readonly FieldName[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql`${sql.ref(orderFields[name].column)} as ${sql.ref(name)}`))
}

const selectOrder = prepared(
  (_db, { id }: { id: string }) =>
    sql<Order & { version: number }>`select ${columnsOf(fieldNames)}, version from orders where id = ${id}`,
)

/** The order with its row version, which is never sent as a field (section 2 of the contract). */
export async function findOrder(
  db: Kysely<Database>,
  id: string,
): Promise<(Order & { version: number }) | undefined> {
  return (await selectOrder(db, { id })).rows[0]
}

/** One conditional UPDATE on id, state and, if versions are given, version. Returns the new version, if it changed. */
export async function transitionOrder(
  trx: Transaction<Database>,
  transition: { from: readonly OrderStatus[]; to: OrderStatus },
  change: {
    id: string
    acceptedVersions: number[] | null
    nowMilliseconds: number
    timeZone: string
    modifiedBy: string
  },
): Promise<number | undefined> {
  const { acceptedVersions } = change
  if (acceptedVersions?.length === 0) return undefined
  const updated = await trx
    .updateTable('orders')
    .set((eb) => ({
      status: transition.to,
      version: eb('version', '+', 1),
      updated_at: change.nowMilliseconds,
      updated_at_time_zone: change.timeZone,
      modified_by: change.modifiedBy,
    }))
    .where('id', '=', change.id)
    .where('status', 'in', transition.from)
    .$if(acceptedVersions !== null, (query) => query.where('version', 'in', acceptedVersions ?? []))
    .returning('version')
    .executeTakeFirst()
  return updated?.version
}
