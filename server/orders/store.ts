import type { Insertable, Kysely, Selectable, Transaction } from 'kysely'
import { type GroupedOrder, insertOrdersTogether } from '../db/postgres/order-group.ts'
import { prepared, preparedWrite } from '../db/prepared.ts'
import type { Database, OrdersTable } from '../db/tables.ts'
import { foldText } from './fold.ts'
import { type Order, type OrderStatus, orderStatus } from './order.ts'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The stored form of an order id, or undefined for what is no UUID (then there is no such order). */
export function parseOrderId(text: string): string | undefined {
  const id = text.toLowerCase()
  return uuidPattern.test(id) ? id : undefined
}

export interface NewOrder {
  id: string
  customer: string
  totalE4: number
  createdAt: number
  createdAtTimeZone: string
  createdBy: string
}

export async function insertOrder(trx: Transaction<Database>, order: NewOrder): Promise<void> {
  await insertPending(trx, folded(order))
}

/** Those whose key is new, in one statement (PostgreSQL); no two may have the same key. Returns their ids. */
export function insertOrders(
  trx: Transaction<Database>,
  orders: { order: NewOrder; key: GroupedOrder['key'] }[],
): Promise<Set<string>> {
  return insertOrdersTogether(
    trx,
    orders.map(({ order, key }) => ({ order: toRow(folded(order)), key })),
  )
}

/** Rows as they are, in one statement. */
export async function addOrders(
  trx: Transaction<Database>,
  rows: readonly Selectable<OrdersTable>[],
): Promise<void> {
  await trx.insertInto('orders').values(rows).execute()
}

type FoldedOrder = NewOrder & { customerFolded: string }

function folded(order: NewOrder): FoldedOrder {
  return { ...order, customerFolded: foldText(order.customer) }
}

function toRow(order: FoldedOrder): Insertable<OrdersTable> {
  return {
    id: order.id,
    customer: order.customer,
    customer_folded: order.customerFolded,
    total_e4: order.totalE4,
    status: orderStatus.Pending,
    created_at: order.createdAt,
    created_at_time_zone: order.createdAtTimeZone,
    created_by: order.createdBy,
    updated_at: null,
    updated_at_time_zone: null,
    modified_by: null,
    version: 1,
  }
}

const insertPending = preparedWrite((db, order: FoldedOrder) => db.insertInto('orders').values(toRow(order)))

const orderColumns = [
  'id',
  'customer',
  'total_e4',
  'status',
  'created_at',
  'created_at_time_zone',
  'updated_at',
  'updated_at_time_zone',
  'created_by',
  'modified_by',
  'version',
] as const

const selectOrder = prepared((db, id: string) =>
  db.selectFrom('orders').select(orderColumns).where('id', '=', id),
)

export async function hasOrders(db: Kysely<Database>): Promise<boolean> {
  return (await db.selectFrom('orders').select('id').limit(1).executeTakeFirst()) !== undefined
}

export async function findOrder(db: Kysely<Database>, id: string): Promise<Order | undefined> {
  const [row] = await selectOrder(db, id)
  return row && toOrder(row)
}

function toOrder(row: Pick<Selectable<OrdersTable>, (typeof orderColumns)[number]>): Order {
  return {
    id: row.id,
    customer: row.customer,
    totalE4: row.total_e4,
    status: row.status as OrderStatus,
    createdAt: row.created_at,
    createdAtTimeZone: row.created_at_time_zone,
    updatedAt: row.updated_at,
    updatedAtTimeZone: row.updated_at_time_zone,
    createdBy: row.created_by,
    modifiedBy: row.modified_by,
    version: row.version,
  }
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
