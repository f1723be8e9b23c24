import { parseDatabaseUrl } from './address.ts'
import type { RefusalCodec } from './errors.ts'
import type { DatabasePort, GroupedOperations, ReadOperations, SingleReads, WriteOperations } from './port.ts'
import type { PostgresOptions } from './postgres/connections.ts'
import { migrateSqlite, openSqlite } from './sqlite/open.ts'

export interface ConnectOptions {
  /** `file:...` is embedded SQLite, `postgres://...` is PostgreSQL. */
  databaseUrl: string
  /** PostgreSQL: connections for transactions. */
  poolSize?: number
  /** PostgreSQL: behind a pooler that hands out connections by transaction. */
  transactionPooler?: boolean
  /** PostgreSQL: how long to wait at start for a server that does not answer yet. */
  startTimeoutMilliseconds?: number
  /** PostgreSQL: called each time the server is waited for, and once if it has no index to search text by. */
  onWaiting?: (message: string) => void
}

export interface OpenOptions<Operations extends WriteOperations, Reads extends ReadOperations>
  extends ConnectOptions {
  operations: Operations
  /** PostgreSQL: batch forms of operations that many callers issue at once. */
  groupedOperations?: GroupedOperations
  reads: Reads
  /** PostgreSQL: one-statement forms of reads that many callers issue at once. */
  singleReads?: SingleReads
  /** SQLite: entry module of the writer thread; it registers the same operations. */
  writerEntry: URL
  /** SQLite: entry module of a reader thread; it registers the same reads. */
  readerEntry: URL
  refusals: RefusalCodec
}

/**
 * Migrates and opens the database at the address. Throws `DatabaseRefused` with one line for the operator.
 */
export async function openDatabase<Operations extends WriteOperations, Reads extends ReadOperations>(
  options: OpenOptions<Operations, Reads>,
): Promise<DatabasePort<Operations, Reads>> {
  await migrateDatabase(options)
  const address = parseDatabaseUrl(options.databaseUrl)
  if (address.engine === 'sqlite') {
    const { writerEntry, readerEntry, refusals } = options
    return openSqlite<Operations, Reads>({ file: address.file, writerEntry, readerEntry, refusals })
  }
  const { openPostgres } = await import('./postgres/open.ts')
  return openPostgres(postgresOptions(address.url, options), options)
}

/** Brings the schema up to date without opening the service. Returns the names of the migrations applied. */
export async function migrateDatabase(options: ConnectOptions): Promise<string[]> {
  const address = parseDatabaseUrl(options.databaseUrl)
  if (address.engine === 'sqlite') return migrateSqlite(address.file)
  const { migratePostgres } = await import('./postgres/migrate.ts')
  const { startTimeoutMilliseconds = 0, onWaiting = () => undefined } = options
  return migratePostgres(postgresOptions(address.url, options), startTimeoutMilliseconds, onWaiting)
}

function postgresOptions(url: string, options: ConnectOptions): PostgresOptions {
  return { url, poolSize: options.poolSize ?? 10, transactionPooler: options.transactionPooler ?? false }
}
