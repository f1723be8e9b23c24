import { parseDatabaseUrl } from './address.ts'
import { DatabaseRefused } from './errors.ts'
import { type RestoredDatabase, type RestoreParts, restoreSqlite } from './sqlite/restore.ts'

export interface RestoreOptions<T> extends Omit<RestoreParts<T>, 'file'> {
  databaseUrl: string
}

/** Puts a backup in the place of the database, if that is a file. Throws `DatabaseRefused`. */
export function restoreDatabase<T>({
  databaseUrl,
  ...options
}: RestoreOptions<T>): Promise<RestoredDatabase<T>> {
  const address = parseDatabaseUrl(databaseUrl)
  if (address.engine === 'sqlite') return restoreSqlite({ ...options, file: address.file })
  throw new DatabaseRefused(
    'DATABASE_URL: restore is for SQLite; recover PostgreSQL with its own tools, then run `log restored`',
  )
}
