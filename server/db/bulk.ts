import { parseDatabaseUrl } from './address.ts'
import type { BulkOrders } from './bulk-rows.ts'
import { addOrdersToSqlite } from './sqlite/bulk.ts'

/**
 * Adds orders to a migrated database, in one transaction: all of them, with their tally, or none. Nobody sees one before
 * all are there, and memory does not grow with their number. Returns how many there are now, counted. On SQLite nobody
 * else can write meanwhile. Throws `DatabaseRefused` or `DatabaseUnavailable`; nothing was then kept.
 */
export async function addOrders(databaseUrl: string, orders: BulkOrders): Promise<{ total: number }> {
  const address = parseDatabaseUrl(databaseUrl)
  if (address.engine === 'sqlite') return addOrdersToSqlite(address.file, orders)
  const { addOrdersToPostgres } = await import('./postgres/bulk.ts')
  return addOrdersToPostgres(address.url, orders)
}
