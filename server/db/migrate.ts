import { type Kysely, sql, type Transaction } from '#kysely'
import { DatabaseRefused } from './errors.ts'
import type { Database, Schema } from './tables.ts'

/**
 * Brings the schema to this version of the service, inside the caller's transaction and under its lock: all
 * or nothing. Returns the names of the migrations applied. Throws `DatabaseRefused` if the database belongs
 * to another version.
 */
export async function migrate(trx: Transaction<Database>, schema: Schema): Promise<string[]> {
  await sql`create table if not exists schema_migrations (name text primary key, applied_at text not null)`.execute(
    trx,
  )
  const pending = await pendingMigrations(trx, schema)
  for (const name of pending) {
    await schema.migrations[name]?.(trx)
    await sql`insert into schema_migrations (name, applied_at) values (${name}, cast(current_timestamp as text))`.execute(
      trx,
    )
  }
  return pending
}

/** Names of the migrations not applied yet, in order. Needs only the right to read. */
export async function pendingMigrations(db: Kysely<Database>, schema: Schema): Promise<string[]> {
  const applied = new Set(await appliedMigrations(db, schema))
  const unknown = [...applied].filter((name) => !(name in schema.migrations))
  if (unknown.length > 0) {
    throw new DatabaseRefused(
      'DATABASE_URL: the database belongs to another version of Countersign, newer than this one or from before its' +
        ` first release (it has ${unknown.join(', ')})`,
    )
  }
  return Object.keys(schema.migrations).filter((name) => !applied.has(name))
}

async function appliedMigrations(db: Kysely<Database>, { findHistory }: Schema): Promise<string[]> {
  if ((await findHistory.execute(db)).rows.length === 0) return []
  const { rows } = await sql<{ name: string }>`select name from schema_migrations`.execute(db)
  return rows.map((row) => row.name)
}
