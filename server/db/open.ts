import { DatabaseRefused } from './errors.ts'
import type { DatabasePort, WriteOperations } from './port.ts'
import { migrateSqlite, openSqlite } from './sqlite.ts'
import type { RefusalCodec } from './sqlite-writer.ts'

export interface OpenOptions {
  /** `file:...` is embedded SQLite. */
  databaseUrl: string
  writerEntry: URL
  refusals: RefusalCodec
}

/** Migrates and opens the database that the address names. Throws `DatabaseRefused` with one line for the operator. */
export async function openDatabase<Operations extends WriteOperations>(
  options: OpenOptions,
): Promise<DatabasePort<Operations>> {
  const file = sqliteFile(options.databaseUrl)
  await migrateSqlite(file)
  return openSqlite<Operations>(file, options.writerEntry, options.refusals)
}

/** Brings the schema up to date without opening the service; returns the names of what was applied. */
export function migrateDatabase(databaseUrl: string): Promise<string[]> {
  return migrateSqlite(sqliteFile(databaseUrl))
}

function sqliteFile(databaseUrl: string): string {
  if (!databaseUrl.startsWith('file:')) {
    throw new DatabaseRefused('DATABASE_URL: only file:... (embedded SQLite) is supported by this version')
  }
  const path = databaseUrl.slice('file:'.length).replace(/^\/\/(?=\/)/, '')
  if (path === '' || path.startsWith(':') || path.includes('\0')) {
    throw new DatabaseRefused('DATABASE_URL: file: must be followed by the path of a file')
  }
  return path
}
