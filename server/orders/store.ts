import { type Kysely, type RawBuilder, sql, type Transaction } from '#kysely'
import { prepared } from '../db/prepared.ts'
import type { Database, OrdersTable } from '../db/tables.ts'
import { instantOfId } from '../ids.ts'
import { foldText } from './fold.ts'
import {
  type ColumnName,
  columnOf,
  fieldNames,
  firstStatus,
  type Order,
  type OrderStatus,
  orderColumns,
} from './order.ts'
import type { NewOrderRow } from './postgres.ts'

export interface NewOrder {
  /** UUIDv7 of the instant of creation. */
  id: string
  customer: string
  totalE4: number
}

/** Who creates an order, and where. */
interface Creator {
  timeZone: string | null
  by: string
  byId: number | null
}

/** Stores the order with the row of the approval policy that applies to it now. */
export async function insertOrder(
  trx: Transaction<Database>,
  order: NewOrder,
  creator: Creator,
): Promise<void> {
  const { numAffectedRows } = await insertRow(trx, rowOf(order, creator))
  if (numAffectedRows !== 1n) throw new Error('no row of the approval policy applies')
}

/** Stores rows as they are, in one statement. */
export async function insertRows(trx: Transaction<Database>, rows: readonly OrdersTable[]): Promise<void> {
  await trx.insertInto('orders').values(rows).execute()
}

const insertRow = prepared(
  (_db, row: NewOrderRow) => sql`
    insert into orders (${sql.join(orderColumns.map((column) => sql.ref(column)))},
      approvals_needed, self_approval, service_approval, approvals_given)
    select ${sql.join(orderColumns.map((column) => row[column]))}, approvals, self_approval, services, 0
    from approval_policy where from_e4 <= ${row.total_e4} order by from_e4 desc limit 1`,
)

/** The row of a new order, without what the approval policy adds. */
export function rowOf(order: NewOrder, creator: Creator): NewOrderRow {
  return {
    id: order.id,
    customer: order.customer,
    customer_folded: foldText(order.customer),
    total_e4: order.totalE4,
    status: firstStatus,
    created_at: instantOfId(order.id),
    created_at_time_zone: creator.timeZone,
    created_by: creator.by,
    created_by_id: creator.byId,
    updated_at: null,
    updated_at_time_zone: null,
    modified_by: null,
    version: 1,
  }
}

export async function hasOrders(db: Kysely<Database>): Promise<boolean> {
  return (await db.selectFrom('orders').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** What each of the orders is now. */
export async function statusesOf(
  db: Kysely<Database>,
  ids: readonly string[],
): Promise<Map<string, OrderStatus>> {
  const rows = await db.selectFrom('orders').select(['id', 'status']).where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, status }) => [id, status as OrderStatus]))
}

/** Columns under their names on the wire. */
export function columnsOf(names: readonly ColumnName[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql`${sql.raw(columnOf(name).expression)} as ${sql.ref(name)}`))
}

const selectOrder = prepared(
  (_db, { id }: { id: string }) =>
    sql<Order & { version: number }>`select ${columnsOf(fieldNames)}, version from orders where id = ${id}`,
)

/** The order with its row version, which is only sent as an entity tag (section 2 of the contract). */
export async function findOrder(
  db: Kysely<Database>,
  id: string,
): Promise<(Order & { version: number }) | undefined> {
  return (await selectOrder(db, { id })).rows[0]
}
