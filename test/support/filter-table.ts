import { after, before } from 'node:test'
import Sqlite from 'better-sqlite3'
import { Kysely, SqliteDialect, sql } from '#kysely'
import type { Database } from '../../server/db/tables.ts'
import { compileFilter } from '../../server/orders/filter/compile.ts'
import { parseFilter } from '../../server/orders/filter/parser.ts'
import * as engineSql from '../../server/orders/list/sqlite.ts'
import { fillBareTable, type OrderRow } from './orders.ts'

/** Names that a filter could easily get wrong. */
export const customers = [
  ...['Acme GmbH', 'ACME', 'Straße 12', 'STRASSE 12', 'ΟΔΟΣ', 'οδός', '100% Pure_Oil', '100 Pure Oil'],
  ...['a\\b', 'a*b', '*', "O'Brien", 'Ｆｕｌｌ', 'İstanbul', 'ısparta', '😀 smile', '\ufffd odd', 'zz'],
  ...['Café', 'dead beef', '019a'],
]
export const ids = [
  '019a0000-0000-7000-8000-000000000000',
  '019a0000-0000-7000-8000-00000000000f',
  '019affff-ffff-7fff-bfff-ffffffffffff',
  '019b0000-0000-7000-8000-000000000000',
  'deadbeef-0000-4000-8000-123456789abc',
]

export function byCodePoint(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}

/** A table of these rows in memory. Returns a column's values in the rows that a filter finds. */
export function filterTable(rows: OrderRow[]) {
  const db = new Kysely<Database>({ dialect: new SqliteDialect({ database: new Sqlite(':memory:') }) })
  before(() => fillBareTable(db, rows))
  after(() => db.destroy())
  return async (text: string, column: 'id' | 'customer' = 'id'): Promise<string[]> => {
    const filter = parseFilter(text)
    if (filter === null) throw new Error('no filter')
    const found = await db
      .selectFrom('orders')
      .select(column)
      .distinct()
      .orderBy(column)
      .where((eb) =>
        compileFilter(filter, eb, {
          ...engineSql,
          finds: () => false,
          findsRanges: true,
          waits: () => sql`true`,
        }),
      )
      .execute()
    return found.map((row) => String(Object.values(row)[0]))
  }
}
