import { sql, type Transaction } from 'kysely'
import { preparedWrite } from '../db/prepared.ts'
import type { Database, OrdersTable } from '../db/tables.ts'
import { orderColumns } from './order.ts'

const insertPrepared = preparedWrite(
  (
    _db,
    row: OrdersTable,
  ) => sql`insert into orders (${sql.join(orderColumns.map((column) => sql.ref(column)))})
    values (${sql.join(orderColumns.map((column) => row[column]))})`,
)

export async function insertRow(trx: Transaction<Database>, row: OrdersTable): Promise<void> {
  await insertPrepared(trx, row)
}

export async function insertRows(trx: Transaction<Database>, rows: readonly OrdersTable[]): Promise<void> {
  await trx.insertInto('orders').values(rows).execute()
}
