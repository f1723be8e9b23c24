import { sql } from '#kysely'
import { DatabaseRefused } from './errors.ts'
import type { Db, Schema, Trx } from './tables.ts'

/**
 * Brings the schema to this version of the service, inside the caller's transaction and under its lock: all
 * or nothing. Returns the names of the migrations applied. Throws `DatabaseRefused` if the database belongs
 * to another version.
 */
export async function migrate(trx: Trx, schema: Schema): Promise<string[]> {
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
export async function pendingMigrations(db: Db, schema: Schema): Promise<string[]> {
  const applied = new Set(await appliedMigrations(db, schema))
  const unknown = [...applied].filter((name) => !(name in schema.migrations))
  const own = Object.keys(schema.migrations)
  if (unknown.length > 0) {
    const isNewer = own.every((name) => applied.has(name))
    const kind = isNewer
      ? 'of a newer version of Countersign; run that version, or use a backup that this one made'
      : 'from before the first release of Countersign, and cannot be brought up to date; use a new database'
    throw new DatabaseRefused(`DATABASE_URL: the database is ${kind} (it has ${unknown.join(', ')})`)
  }
  return own.filter((name) => !applied.has(name))
}

/** Throws `DatabaseRefused` if the database is not of this version. Needs only the right to read. */
export async function requireMigrated(db: Db, schema: Schema): Promise<void> {
  const pending = await pendingMigrations(db, schema)
  if (pending.length === 0) return
  throw new DatabaseRefused(
    `DATABASE_URL: the database is older than this version (it lacks ${pending.join(', ')}): back it up with the version that made it, then run \`migrate\``,
  )
}

async function appliedMigrations(db: Db, { findHistory }: Schema): Promise<string[]> {
  if ((await findHistory.execute(db)).rows.length === 0) return []
  const { rows } = await sql<{ name: string }>`select name from schema_migrations`.execute(db)
  return rows.map((row) => row.name)
}
