import { sql } from '#kysely'
import { parseDatabaseUrl } from '../../server/db/address.ts'
import type { JudgedDatabase } from '../../server/db/migrate.ts'
import { judgePostgres, migratePostgres } from '../../server/db/postgres/migrate.ts'
import { schema as postgresSchema } from '../../server/db/postgres/schema.ts'
import { judgeSqlite, migrateSqlite } from '../../server/db/sqlite/open.ts'
import { schema as sqliteSchema } from '../../server/db/sqlite/schema.ts'
import type { Migration, Schema } from '../../server/db/tables.ts'

/** Brings the database to a later release, which has these migrations too. Returns the names applied. */
export function migrateTo(
  databaseUrl: string,
  later: Record<string, Migration>,
  onNotice: (notice: string) => void = () => undefined,
): Promise<string[]> {
  const address = parseDatabaseUrl(databaseUrl)
  if (address.engine === 'sqlite') return migrateSqlite(address.file, withLater(sqliteSchema, later))
  return migratePostgres(targetOf(address.url), 0, onNotice, withLater(postgresSchema, later))
}

/** The database as that release sees it. */
export function judgeAs(databaseUrl: string, later: Record<string, Migration>): Promise<JudgedDatabase> {
  const address = parseDatabaseUrl(databaseUrl)
  if (address.engine === 'sqlite') return judgeSqlite(address.file, withLater(sqliteSchema, later))
  return judgePostgres(targetOf(address.url), withLater(postgresSchema, later))
}

const withLater = ({ findHistory, migrations }: Schema, later: Record<string, Migration>) => ({
  findHistory,
  migrations: { ...migrations, ...later },
})

const targetOf = (url: string) => ({ url, transactionPooler: false, readOnly: false })

/** A migration to one more column of orders. */
export const laterColumn = (oldestRelease: string): Migration => ({
  oldestRelease,
  locks: ['orders'],
  async step(trx) {
    await sql`alter table orders add column later integer`.execute(trx)
  },
})

/** Settings with which a program is a later release: see later-release-preload.ts. */
export const laterRelease = (oldestRelease: string) => ({
  NODE_OPTIONS: `--import=${new URL('./later-release-preload.ts', import.meta.url).href}`,
  LATER_READERS: oldestRelease,
})
