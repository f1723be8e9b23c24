import type Sqlite from 'better-sqlite3'
import { type BulkOrders, type OrderRow, orderColumns } from '../bulk-rows.ts'
import { DatabaseRefused, DatabaseUnavailable } from '../errors.ts'
import { translateErrors } from './driver.ts'
import { openWritable } from './files.ts'

/** A statement for so many rows costs less than one for each; more of them gain nothing. */
const rowsPerStatement = 32
const pageCacheKibibytes = 64 * 1024
/** The tally's trigger costs three times what the row itself does, and the other one needs an index. */
const triggers = `name in ('order_tally_insert', 'order_sequence_insert')`

/** See `addOrders`. */
export function addOrdersToSqlite(file: string, orders: BulkOrders): { total: number } {
  let connection: Sqlite.Database | undefined
  try {
    const opened = translateErrors(() => openWritable(file))
    connection = opened
    opened.pragma(`cache_size = -${pageCacheKibibytes}`)
    return translateErrors(() => opened.transaction(() => addAll(opened, orders)).immediate())
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error
    throw new DatabaseRefused(`DATABASE_URL: ${file} cannot be filled: ${error.message}`, { cause: error })
  } finally {
    connection?.close()
  }
}

function addAll(connection: Sqlite.Database, { count, batches, onRows }: BulkOrders): { total: number } {
  const before = countOrders(connection)
  const last = (connection.prepare('select max(rowid) from orders').pluck().get() as number | null) ?? 0
  const restore = [setAside(connection, 'trigger', triggers)]
  // To sort millions of keys at once beats to look up the place of each, unless as many are there already.
  if (count > before) restore.push(setAside(connection, 'index', 'sql is not null'))
  const insertMany = connection.prepare(insertText(rowsPerStatement))
  const insertOne = connection.prepare(insertText(1))
  let added = 0
  for (const batch of batches) {
    insertBatch(batch, insertMany, insertOne)
    added += batch.length
    onRows(added)
  }
  connection.prepare(addToTally).run(last)
  connection.prepare(findSequence).run({ last })
  for (const step of restore) step()
  const total = countOrders(connection)
  if (added !== count || total !== before + count || tallied(connection) !== total) {
    throw new DatabaseRefused(`DATABASE_URL: ${total - before} of ${count} orders arrived; nothing was kept`)
  }
  return { total }
}

function insertBatch(batch: OrderRow[], insertMany: Sqlite.Statement, insertOne: Sqlite.Statement): void {
  const whole = batch.length - (batch.length % rowsPerStatement)
  for (let start = 0; start < whole; start += rowsPerStatement) {
    insertMany.run(batch.slice(start, start + rowsPerStatement).flat())
  }
  for (const row of batch.slice(whole)) insertOne.run(row)
}

function insertText(rows: number): string {
  const places = `(${orderColumns.map(() => '?').join(', ')})`
  return `insert into orders (${orderColumns.join(', ')}) values ${Array(rows).fill(places).join(', ')}`
}

/** Drops parts of the table and returns a function that makes them again, exactly as they were. */
function setAside(connection: Sqlite.Database, type: 'trigger' | 'index', condition: string): () => void {
  const parts = connection
    .prepare<[string], { name: string; sql: string }>(
      `select name, sql from sqlite_schema where tbl_name = 'orders' and type = ? and ${condition}`,
    )
    .all(type)
  for (const { name } of parts) connection.exec(`drop ${type} "${name}"`)
  return () => {
    for (const { sql } of parts) connection.exec(sql)
  }
}

/** What the trigger does for each row, for all rows after one (schema.ts). */
const addToTally = `insert into order_tally (day, status, orders, total_units, total_parts_e4)
  with by_day as materialized (
    select case when created_at >= 0 then created_at / 86400000 else -1 end as day, status,
      count(*) as orders, sum(total_e4 / 10000) as total_units, sum(total_e4 % 10000) as total_parts_e4
    from orders where rowid > ? group by 1, 2
  )
  select -1, status, sum(orders), sum(total_units), sum(total_parts_e4) from by_day group by status
  union all
  select day, status, orders, total_units, total_parts_e4 from by_day where day >= 0
  on conflict (day, status) do update set orders = orders + excluded.orders,
    total_units = total_units + excluded.total_units, total_parts_e4 = total_parts_e4 + excluded.total_parts_e4`

/** What the trigger says of each row, for all rows after one (schema.ts). */
const findSequence = `update order_sequence set in_order_from = max(in_order_from, (
  select coalesce(max(seq), 0) + 1 from (
    select seq, created_at, max(
      coalesce((select max(created_at) from orders where seq <= @last), created_at),
      coalesce(max(created_at) over (order by seq rows between unbounded preceding and 1 preceding), created_at)
    ) as before from orders where seq > @last
  ) where created_at < before))`

function countOrders(connection: Sqlite.Database): number {
  return connection.prepare('select count(*) from orders').pluck().get() as number
}

function tallied(connection: Sqlite.Database): number {
  return connection
    .prepare('select coalesce(sum(orders), 0) from order_tally where day = -1')
    .pluck()
    .get() as number
}
