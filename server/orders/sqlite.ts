import { sql, type Transaction } from 'kysely'
import { DatabaseUnavailable } from '../db/errors.ts'
import { prepared } from '../db/prepared.ts'
import type { Database, OrdersTable } from '../db/tables.ts'
import { orderNumber } from '../ids.ts'
import { orderColumns } from './order.ts'

type NumberedOrder = OrdersTable & { seq: bigint }
type NumberedDatabase = Omit<Database, 'orders'> & { orders: NumberedOrder }

const columns = [...orderColumns, 'seq'] as const

const insertNumbered = prepared(
  (_db, row: NumberedOrder) => sql`insert into orders (${sql.join(columns.map((column) => sql.ref(column)))})
    values (${sql.join(columns.map((column) => row[column]))}) on conflict (seq) do nothing`,
)

export async function insertRow(trx: Transaction<Database>, row: OrdersTable): Promise<void> {
  const { numAffectedRows } = await insertNumbered(trx, numbered(row))
  // Another process had the same thought in the same millisecond, one time in 100,000: the next try is another order.
  if (numAffectedRows === 0n) throw new DatabaseUnavailable('another order has the number of this one')
}

export async function insertRows(trx: Transaction<Database>, rows: readonly OrdersTable[]): Promise<void> {
  await trx.withTables<NumberedDatabase>().insertInto('orders').values(rows.map(numbered)).execute()
}

function numbered(row: OrdersTable): NumberedOrder {
  return { ...row, seq: orderNumber(row.id) }
}
