import { parseDatabaseUrl } from './address.ts'
import type { DatabasePort, WriteOperations } from './port.ts'
import type { PostgresOptions } from './postgres.ts'
import { migrateSqlite, openSqlite } from './sqlite.ts'
import type { RefusalCodec } from './sqlite-writer.ts'

export interface ConnectOptions {
  /** `file:...` is embedded SQLite, `postgres://...` is PostgreSQL. */
  databaseUrl: string
  /** PostgreSQL: connections for transactions. */
  poolSize?: number
  /** PostgreSQL: behind a pooler that hands out connections by transaction. */
  transactionPooler?: boolean
  /** PostgreSQL: how long to wait at start for a server that does not answer yet. */
  startTimeoutMilliseconds?: number
  /** Told each time when the server is waited for. */
  onWaiting?: (message: string) => void
}

export interface OpenOptions<Operations extends WriteOperations> extends ConnectOptions {
  operations: Operations
  /** SQLite: entry module of the writer thread, which brings the same operations. */
  writerEntry: URL
  refusals: RefusalCodec
}

/** Migrates and opens the database that the address names. Throws `DatabaseRefused` with one line for the operator. */
export async function openDatabase<Operations extends WriteOperations>(
  options: OpenOptions<Operations>,
): Promise<DatabasePort<Operations>> {
  await migrateDatabase(options)
  const address = parseDatabaseUrl(options.databaseUrl)
  if (address.engine === 'sqlite') {
    return openSqlite<Operations>(address.file, options.writerEntry, options.refusals)
  }
  const { openPostgres } = await import('./postgres.ts')
  return openPostgres(postgresOptions(address.url, options), options.operations)
}

/** Brings the schema up to date without opening the service; returns the names of what was applied. */
export async function migrateDatabase(options: ConnectOptions): Promise<string[]> {
  const address = parseDatabaseUrl(options.databaseUrl)
  if (address.engine === 'sqlite') return migrateSqlite(address.file)
  const { migratePostgres } = await import('./postgres-migrate.ts')
  const { startTimeoutMilliseconds = 0, onWaiting = () => undefined } = options
  return migratePostgres(postgresOptions(address.url, options), startTimeoutMilliseconds, onWaiting)
}

function postgresOptions(url: string, options: ConnectOptions): PostgresOptions {
  return { url, poolSize: options.poolSize ?? 10, transactionPooler: options.transactionPooler ?? false }
}
