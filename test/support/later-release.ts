import { sql } from '#kysely'
import { parseDatabaseUrl } from '../../server/db/address.ts'
import { migratePostgres } from '../../server/db/postgres/migrate.ts'
import { schema as postgresSchema } from '../../server/db/postgres/schema.ts'
import { migrateSqlite } from '../../server/db/sqlite/open.ts'
import { schema as sqliteSchema } from '../../server/db/sqlite/schema.ts'
import type { Migration, Schema } from '../../server/db/tables.ts'

/** Brings the database to a later release, which has these migrations too. Returns the names applied. */
export function migrateTo(
  databaseUrl: string,
  later: Record<string, Migration>,
  onNotice: (notice: string) => void = () => undefined,
): Promise<string[]> {
  const withLater = ({ findHistory, migrations }: Schema) => ({
    findHistory,
    migrations: { ...migrations, ...later },
  })
  const address = parseDatabaseUrl(databaseUrl)
  if (address.engine === 'sqlite') return migrateSqlite(address.file, withLater(sqliteSchema))
  const target = { url: address.url, transactionPooler: false, readOnly: false }
  return migratePostgres(target, 0, onNotice, withLater(postgresSchema))
}

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
