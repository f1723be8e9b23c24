import { sql } from '#kysely'
import { printable } from '../../proof/words.ts'
import { readVersion } from '../version.ts'
import { DatabaseRefused } from './errors.ts'
import type { Db, Migration, Schema, Trx } from './tables.ts'

/** Applies all pending migrations inside the caller's transaction and under its lock. Returns their names. */
export async function migrateAll(trx: Trx, schema: Schema): Promise<string[]> {
  const applied: string[] = []
  for (let name = await migrateNext(trx, schema); name !== undefined; name = await migrateNext(trx, schema)) {
    applied.push(name)
  }
  return applied
}

/**
 * Applies the next pending migration inside the caller's transaction and under its lock; with `only`, none
 * but the one of that name. Returns its name, or undefined if it applied none. Throws `DatabaseRefused` if
 * this release may not serve the database.
 */
export async function migrateNext(trx: Trx, schema: Schema, only?: string): Promise<string | undefined> {
  const [name] = await pendingMigrations(trx, schema)
  if (name === undefined || (only !== undefined && name !== only)) return undefined
  const migration = migrationOf(schema, name)
  await sql`create table if not exists schema_migrations
    (name text primary key, oldest_release text not null, applied_at text not null)`.execute(trx)
  if ('step' in migration) await migration.step(trx)
  else await sql.raw(`create index ${migration.index} on ${migration.on}`).execute(trx)
  await noteApplied(trx, name, migration)
  return name
}

export function migrationOf(schema: Schema, name: string): Migration {
  const migration = schema.migrations[name]
  if (migration === undefined) throw new Error(`there is no migration ${name}`)
  return migration
}

export async function noteApplied(db: Db, name: string, { oldestRelease }: Migration): Promise<void> {
  await sql`insert into schema_migrations (name, oldest_release, applied_at)
    values (${name}, ${oldestRelease}, cast(current_timestamp as text)) on conflict do nothing`.execute(db)
}

/**
 * Names of the migrations not applied yet, in order. Needs only the right to read. Throws `DatabaseRefused`
 * if this release may not serve the database.
 */
export async function pendingMigrations(db: Db, schema: Schema): Promise<string[]> {
  const applied = await appliedMigrations(db, schema)
  const own = Object.keys(schema.migrations)
  const unknown = [...applied.keys()].filter((name) => !own.includes(name))
  const pending = own.filter((name) => !applied.has(name))
  const oldest = newest(unknown.map((name) => applied.get(name) ?? ''))
  if (unknown.length > 0 && (pending.length > 0 || isBefore(readVersion(), oldest))) {
    throw new DatabaseRefused(
      `DATABASE_URL: the database is of a newer version of Countersign: run ${oldest} or later, or use a backup that this version made (it has ${unknown.join(', ')})`,
    )
  }
  return pending
}

/** Throws `DatabaseRefused` if a migration is pending. Needs only the right to read. */
export async function requireMigrated(db: Db, schema: Schema): Promise<void> {
  const pending = await pendingMigrations(db, schema)
  if (pending.length === 0) return
  throw new DatabaseRefused(
    `DATABASE_URL: the database is older than this version (it lacks ${pending.join(', ')}): back it up, then run \`migrate\``,
  )
}

/** A database as `migrate --check` and `version --check` see it. */
export interface JudgedDatabase {
  /** The oldest release that serves it; null without a schema, or with one from before the first release. */
  oldestRelease: string | null
  /** Why this release may not serve it, in one line. */
  refusal: string | null
  /** Migrations to come, with the tables that nobody can use during the step. */
  pending: { name: string; locks: readonly string[] }[]
}

/** Needs only the right to read. */
export async function judge(db: Db, schema: Schema): Promise<JudgedDatabase> {
  let oldestRelease: string | null = null
  try {
    const applied = await appliedMigrations(db, schema)
    if (applied.size > 0) oldestRelease = newest([...applied.values()])
    const pending = (await pendingMigrations(db, schema)).map((name) => {
      const migration = migrationOf(schema, name)
      return { name, locks: 'locks' in migration ? migration.locks : [] }
    })
    return { oldestRelease, refusal: null, pending }
  } catch (error) {
    if (!(error instanceof DatabaseRefused)) throw error
    return { oldestRelease, refusal: error.message, pending: [] }
  }
}

/** The oldest release for each, by name. */
async function appliedMigrations(db: Db, { findHistory }: Schema): Promise<Map<string, string>> {
  const found = (await findHistory.execute(db)).rows
  const columns = found.flatMap(({ column }) => column ?? [])
  if (found.length === 0) return new Map()
  if (!columns.includes('name')) {
    throw new DatabaseRefused(
      'DATABASE_URL: the database has tables or views of another program; use a new one (on PostgreSQL, a separate schema)',
    )
  }
  if (!columns.includes('oldest_release')) {
    throw new DatabaseRefused(
      'DATABASE_URL: the database is from before the first release of Countersign, and cannot be brought up to date; use a new database',
    )
  }
  const { rows } = await sql<{ name: string; oldest: string }>`select name, oldest_release as oldest
    from schema_migrations order by name`.execute(db)
  return new Map(rows.map(({ name, oldest }) => [printable(String(name)), printable(String(oldest))]))
}

const newest = (releases: readonly string[]): string =>
  releases.reduce((one, other) => (isBefore(one, other) ? other : one), '0.0.0')

/** By semantic versioning, without what follows a hyphen. Any other text comes last. */
function isBefore(one: string, other: string): boolean {
  const [a, b] = [one, other].map((release) => {
    const parts = /^(\d+)\.(\d+)\.(\d+)(?:-|$)/.exec(release)?.slice(1)
    return parts?.map(Number) ?? [Number.POSITIVE_INFINITY]
  })
  const first = [0, 1, 2].find((part) => a?.[part] !== b?.[part])
  return first !== undefined && (a?.[first] ?? 0) < (b?.[first] ?? 0)
}
