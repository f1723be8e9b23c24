import { type RawBuilder, sql } from '#kysely'
import { prepared } from '../db/prepared.ts'
import type { Database, Db, RuleColumns, Trx } from '../db/tables.ts'
import { instantOfId } from '../ids.ts'
import { type Asking, expressionOf } from './conditions.ts'
import type { Decided, Stamped } from './event.ts'
import { foldText } from './fold.ts'
import {
  type ColumnName,
  fieldNames,
  firstStatus,
  type Order,
  type OrderStatus,
  orderColumns,
  replaceable,
} from './order.ts'
import type { NewOrderRow } from './postgres.ts'
import { ruleColumns, rulesOf } from './rules.ts'

export interface NewOrder {
  /** UUIDv7 of the instant of creation. */
  id: string
  customer: string
  /** Ten-thousandths. */
  total: number
  /** The rejected or withdrawn order that it replaces. */
  replaces?: string | null
}

interface Creator {
  timeZone: string | null
  by: string
  byId: number | null
}

/** Stores the order with the row of the approval policy that applies to it now. */
export async function insertOrder(trx: Trx, order: NewOrder, creator: Creator): Promise<Stamped> {
  const [stored] = (await insertRow(trx, rowOf(order, creator))).rows
  if (stored === undefined) throw new Error('no row of the approval policy applies')
  return stampedOf(stored)
}

type StampedRow = RuleColumns & { number: number; created_by_owner_id: number | null }

const stampedOf = (row: StampedRow): Stamped => ({
  number: row.number,
  rules: rulesOf(row),
  ownerId: row.created_by_owner_id,
})

/** An order as stored, without its number, which the database assigns. */
export type OrderRow = Omit<Database['orders'], 'number'>

/** Stores rows unchanged, in one statement. Returns what their events have besides, by the ids. */
export async function insertRows(trx: Trx, rows: readonly OrderRow[]): Promise<Map<string, Stamped>> {
  const stored = await trx.insertInto('orders').values(rows).returning(['id', 'number']).execute()
  const numbers = new Map(stored.map(({ id, number }) => [id, number]))
  return new Map(rows.map((row) => [row.id, stampedOf({ ...row, number: Number(numbers.get(row.id)) })]))
}

const insertRow = prepared(
  (_db, row: NewOrderRow) => sql<StampedRow>`
    insert into orders (${sql.join(orderColumns.map((column) => sql.ref(column)))},
      created_by_owner_id, ${ruleColumns}, approvals_given)
    select ${sql.join(orderColumns.map((column) => row[column]))},
      (select owner_id from clients where principal_id = ${row.created_by_id}), ${ruleColumns}, 0
    from approval_policy where from_e4 <= ${row.total_e4} order by from_e4 desc limit 1
    returning number, created_by_owner_id, ${ruleColumns}`,
)

/** The row of a new order, without what the approval policy adds. */
export function rowOf(order: NewOrder, creator: Creator): NewOrderRow {
  return {
    id: order.id,
    customer: order.customer,
    customer_folded: foldText(order.customer),
    total_e4: order.total,
    status: firstStatus,
    created_at: instantOfId(order.id),
    created_at_time_zone: creator.timeZone,
    created_by: creator.by,
    created_by_id: creator.byId,
    updated_at: null,
    updated_at_time_zone: null,
    modified_by: null,
    version: 1,
    replaces: order.replaces ?? null,
  }
}

/** False unless the order can be replaced and no other order replaces it. */
export async function markReplaced(trx: Trx, id: string, by: string): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('orders')
    .set('replaced_by', by)
    .where('id', '=', id)
    .where('status', 'in', replaceable)
    .where('replaced_by', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

export async function hasOrders(db: Db): Promise<boolean> {
  return (await db.selectFrom('orders').select('id').limit(1).executeTakeFirst()) !== undefined
}

export async function statusesOf(db: Db, ids: readonly string[]): Promise<Map<string, OrderStatus>> {
  const rows = await db.selectFrom('orders').select(['id', 'status']).where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, status }) => [id, status as OrderStatus]))
}

/** Columns under their names on the wire. */
export function columnsOf(names: readonly ColumnName[], askings?: readonly Asking[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql`${expressionOf(name, askings)} as ${sql.ref(name)}`))
}

const selectOrder = prepared(
  (_db, { id }: { id: string }) =>
    sql<FoundOrder>`select ${columnsOf([...fieldNames, 'number'])}, version from orders where id = ${id}`,
)

/** The order with what is no field of it: its number, and its row version, which is sent as an entity tag. */
type FoundOrder = Order & { number: number; version: number }

export async function findOrder(db: Db, id: string): Promise<FoundOrder | undefined> {
  return (await selectOrder(db, { id })).rows[0]
}

/**
 * Reads the order and locks its row, by a write that changes nothing. Events recorded until the transaction
 * ends come after the change that made this version, and before the next change.
 */
export async function lockOrder(trx: Trx, id: string): Promise<Decided | undefined> {
  return trx
    .updateTable('orders')
    .set((eb) => ({ version: eb.ref('version') }))
    .where('id', '=', id)
    .returning(['id', 'version', 'customer', 'total_e4 as total'])
    .executeTakeFirst()
}

/**
 * SHA-256 of each document, in hexadecimal, ascending, by the ids of the orders that have some. A document
 * raises the version, so an order at version 1 has none and is not looked up.
 */
export async function documentHashes(
  db: Db,
  orders: readonly { id: string; version: number }[],
): Promise<Map<string, string[]>> {
  const ids = orders.filter(({ version }) => version > 1).map(({ id }) => id)
  if (ids.length === 0) return new Map()
  const documents = db.selectFrom('order_documents').select(['order_id', 'sha256'])
  const rows = await documents.where('order_id', 'in', ids).execute()
  const byOrder = Map.groupBy(rows, ({ order_id }) => order_id)
  return new Map([...byOrder].map(([id, of]) => [id, of.map(({ sha256 }) => sha256).sort()]))
}
