import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { type CompiledQuery, Kysely, PostgresDialect, SqliteDialect } from '#kysely'
import type { Database } from '../../server/db/tables.ts'
import { poolTo, testEngine } from './database.ts'
import type { Service } from './service.ts'

type Place = Pick<Service, 'databaseUrl'>

function openSqlite({ databaseUrl }: Place, readonly = true): Sqlite.Database {
  const database = new Sqlite(databaseUrl.replace('file:', ''), { readonly })
  database.function('within_time', () => 1)
  return database
}

/** Every statement that the work sends. */
export async function statementsOf(
  place: Place,
  work: (db: Kysely<Database>) => Promise<unknown>,
): Promise<CompiledQuery[]> {
  const statements: CompiledQuery[] = []
  const types = new pg.TypeOverrides()
  types.setTypeParser(pg.types.builtins.INT8, Number)
  const dialect =
    testEngine === 'sqlite'
      ? new SqliteDialect({ database: openSqlite(place, false) })
      : new PostgresDialect({ pool: poolTo(place.databaseUrl, { types }) })
  const db = new Kysely<Database>({ dialect, log: ({ query }) => void statements.push(query) })
  await work(db)
  await db.destroy()
  return statements
}

/** SQLite's own words for the steps of the statements. */
export function stepsOf(place: Place, statements: readonly CompiledQuery[]): string[] {
  const database = openSqlite(place)
  const steps = statements.flatMap(
    ({ sql, parameters }) =>
      database.prepare(`explain query plan ${sql}`).all(...parameters) as { detail: string }[],
  )
  database.close()
  return steps.map(({ detail }) => detail)
}

/**
 * How the statements reach orders: the index of each access, or how it does without one. A sort is `sort`.
 * `generic` asks PostgreSQL for the plan for any parameters, which a frequent statement gets.
 */
export async function accessesOf(
  place: Place,
  statements: readonly CompiledQuery[],
  { generic = false } = {},
): Promise<string[]> {
  if (testEngine === 'sqlite') return stepsOf(place, statements).flatMap(sqliteAccess)
  const client = new pg.Client({ connectionString: place.databaseUrl })
  await client.connect()
  const accesses: string[] = []
  for (const { sql, parameters } of statements) {
    if (generic) {
      await client.query('set plan_cache_mode = force_generic_plan')
      await client.query(`prepare statement as ${sql}`)
    }
    const values =
      parameters.length === 0
        ? ''
        : `(${parameters.map((value) => pg.escapeLiteral(String(value))).join(', ')})`
    const { rows } = generic
      ? await client.query(`explain (format json) execute statement${values}`)
      : await client.query(`explain (format json) ${sql}`, [...parameters])
    JSON.stringify(rows, (_key, node) => {
      if (/Sort$/.test(node?.['Node Type'] ?? '')) accesses.push('sort')
      if (/^orders_/.test(node?.['Index Name'] ?? '')) accesses.push(node['Index Name'])
      else if (node?.['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'orders')
        accesses.push('Seq Scan')
      return node
    })
  }
  await client.end()
  return accesses
}

function sqliteAccess(step: string): string[] {
  if (/TEMP B-TREE FOR ORDER BY/.test(step)) return ['sort']
  if (/\borders_search\b/.test(step)) return ['orders_search']
  if (!/\borders\b/.test(step)) return []
  return [/USING (?:COVERING )?INDEX (\w+)/.exec(step)?.[1] ?? step]
}
