import { type Kysely, sql, type Transaction } from 'kysely'
import { DatabaseRefused } from './errors.ts'
import * as initial from './migrations/0001-initial.ts'
import * as orderTally from './migrations/0002-order-tally.ts'
import * as orderIndexes from './migrations/0003-order-indexes.ts'
import type { Database } from './tables.ts'

export type Engine = 'sqlite' | 'postgres'

export interface Migration {
  up(trx: Transaction<Database>, engine: Engine): Promise<void>
}

/** Forward only. Names are never changed, and nothing is ever put between two of them. */
const migrations: Record<string, Migration> = {
  '0001-initial': initial,
  '0002-order-tally': orderTally,
  '0003-order-indexes': orderIndexes,
}

/**
 * Brings the schema to this version of the service, inside the caller's transaction and under its lock: all or
 * nothing. Returns the names it applied. Throws `DatabaseRefused` when the database belongs to a newer version.
 */
export async function migrate(trx: Transaction<Database>, engine: Engine): Promise<string[]> {
  await sql`create table if not exists schema_migrations (name text primary key, applied_at text not null)`.execute(
    trx,
  )
  const pending = await pendingMigrations(trx, engine)
  for (const name of pending) {
    await migrations[name]?.up(trx, engine)
    await sql`insert into schema_migrations (name, applied_at) values (${name}, cast(current_timestamp as text))`.execute(
      trx,
    )
  }
  return pending
}

/** Names of the migrations that are not applied yet, in order; needs no right but to read. */
export async function pendingMigrations(db: Kysely<Database>, engine: Engine): Promise<string[]> {
  const applied = new Set(await appliedMigrations(db, engine))
  const unknown = [...applied].filter((name) => !(name in migrations))
  if (unknown.length > 0) {
    throw new DatabaseRefused(
      `DATABASE_URL: the database belongs to a newer version of Countersign (it has ${unknown.join(', ')})`,
    )
  }
  return Object.keys(migrations).filter((name) => !applied.has(name))
}

async function appliedMigrations(db: Kysely<Database>, engine: Engine): Promise<string[]> {
  const table =
    engine === 'postgres'
      ? sql`select 1 from pg_tables where schemaname = current_schema() and tablename = 'schema_migrations'`
      : sql`select 1 from sqlite_schema where type = 'table' and name = 'schema_migrations'`
  if ((await table.execute(db)).rows.length === 0) return []
  const { rows } = await sql<{ name: string }>`select name from schema_migrations`.execute(db)
  return rows.map((row) => row.name)
}
