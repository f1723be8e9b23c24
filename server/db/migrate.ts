import { sql, type Transaction } from 'kysely'
import { DatabaseRefused } from './errors.ts'
import * as initial from './migrations/0001-initial.ts'
import type { Database } from './tables.ts'

export type Engine = 'sqlite' | 'postgres'

export interface Migration {
  up(trx: Transaction<Database>, engine: Engine): Promise<void>
}

/** Forward only. Names are never changed, and nothing is ever put between two of them. */
const migrations: Record<string, Migration> = {
  '0001-initial': initial,
}

/**
 * Brings the schema to this version of the service, inside the caller's transaction and under its lock: all or
 * nothing. Returns the names it applied. Throws `DatabaseRefused` when the database belongs to a newer version.
 */
export async function migrate(trx: Transaction<Database>, engine: Engine): Promise<string[]> {
  await sql`create table if not exists schema_migrations (name text primary key, applied_at text not null)`.execute(
    trx,
  )
  const { rows } = await sql<{ name: string }>`select name from schema_migrations`.execute(trx)
  const applied = new Set(rows.map((row) => row.name))
  const unknown = [...applied].filter((name) => !(name in migrations))
  if (unknown.length > 0) {
    throw new DatabaseRefused(
      `DATABASE_URL: the database belongs to a newer version of Countersign (it has ${unknown.join(', ')})`,
    )
  }
  const pending = Object.entries(migrations).filter(([name]) => !applied.has(name))
  for (const [name, migration] of pending) {
    await migration.up(trx, engine)
    await sql`insert into schema_migrations (name, applied_at) values (${name}, current_timestamp)`.execute(
      trx,
    )
  }
  return pending.map(([name]) => name)
}
