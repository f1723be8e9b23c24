import { parseDatabaseUrl } from './address.ts'
import { DatabaseRefused } from './errors.ts'
import type { JudgedDatabase } from './migrate.ts'
import type { DatabasePort, ReadOperations, Registry, WriteOperations } from './port.ts'
import type { PostgresOptions } from './postgres/connections.ts'
import type { RefusalOptions } from './refusals.ts'
import { backUpSqlite, judgeSqlite, migrateSqlite, openSqlite, openSqliteToRead } from './sqlite/open.ts'
import { claimFile, faultOfPlace } from './sqlite/place.ts'

export interface ConnectOptions extends RefusalOptions, Partial<Omit<PostgresOptions, 'url'>> {
  /** `file:...` is embedded SQLite, `postgres://...` is PostgreSQL. */
  databaseUrl: string
  /** The database must be of this version: it is not migrated, and what `write` changes may be lost. */
  readOnly?: boolean
  /** SQLite: for a service, and not for a command that may run next to it. */
  isForService?: boolean
  /** SQLite: what a service does where acknowledged writes can get lost. */
  atUnsafePlace?: 'refuse' | 'warn' | 'accept'
  /** PostgreSQL: how long to wait at start for a server that does not answer yet. */
  startTimeoutMilliseconds?: number
  /**
   * Called with what an operator should know: PostgreSQL does not answer yet, there is no index for text
   * search, or SQLite's file is at an unsafe place.
   */
  onNotice?: (message: string) => void
}

export type OpenOptions<Operations, Reads> = ConnectOptions & Registry<Operations, Reads>

/**
 * Opens the database at the address, and migrates it first unless it is only read. Throws `DatabaseRefused`
 * with one line for the operator.
 */
export async function openDatabase<Operations extends WriteOperations, Reads extends ReadOperations>(
  options: OpenOptions<Operations, Reads>,
): Promise<DatabasePort<Operations, Reads>> {
  const address = parseDatabaseUrl(options.databaseUrl)
  if (address.engine === 'sqlite' && options.readOnly) return openSqliteToRead({ ...options, ...address })
  const release =
    address.engine === 'sqlite' && options.isForService ? claimPlace(address.file, options) : undefined
  await migrateDatabase(options)
  if (address.engine === 'sqlite') return openSqlite({ ...options, ...address, release })
  const { openPostgres } = await import('./postgres/open.ts')
  return openPostgres(postgresOptions(address.url, options), options)
}

/** Throws `DatabaseRefused` if the file is no place for a service, or another service has it. */
function claimPlace(file: string, { atUnsafePlace = 'accept', onNotice }: ConnectOptions): () => void {
  const fault = atUnsafePlace === 'accept' ? undefined : faultOfPlace(file)
  if (fault !== undefined && atUnsafePlace === 'refuse') throw new DatabaseRefused(fault)
  if (fault !== undefined) onNotice?.(fault)
  return claimFile(file)
}

/** Brings the schema up to date without opening the service. Returns the names of the migrations applied. */
export async function migrateDatabase(options: ConnectOptions): Promise<string[]> {
  const address = parseDatabaseUrl(options.databaseUrl)
  if (address.engine === 'sqlite') return migrateSqlite(address.file)
  const { migratePostgres } = await import('./postgres/migrate.ts')
  const { startTimeoutMilliseconds = 0, onNotice = () => undefined, readOnly = false } = options
  const target = { ...postgresOptions(address.url, options), readOnly }
  return migratePostgres(target, startTimeoutMilliseconds, onNotice)
}

/** Says what `migrateDatabase` would do, and which releases serve the database. Changes nothing. */
export async function judgeDatabase(options: ConnectOptions): Promise<JudgedDatabase> {
  const address = parseDatabaseUrl(options.databaseUrl)
  if (address.engine === 'sqlite') return judgeSqlite(address.file)
  const { judgePostgres } = await import('./postgres/migrate.ts')
  return judgePostgres(postgresOptions(address.url, options))
}

/**
 * Copies a database of any version, as one consistent snapshot, to a new file. Returns the oldest release
 * that serves the copy; null if it has no schema.
 */
export async function backUpDatabase(
  { databaseUrl }: ConnectOptions,
  target: string,
): Promise<string | null> {
  const address = parseDatabaseUrl(databaseUrl)
  if (address.engine === 'sqlite') return backUpSqlite(address.file, target)
  throw new DatabaseRefused('DATABASE_URL: PostgreSQL has its own tools for this (pg_dump, pg_basebackup)')
}

function postgresOptions(url: string, options: ConnectOptions): PostgresOptions {
  const { poolSize = 10, transactionPooler = false, isPatient = false } = options
  return { url, poolSize, transactionPooler, isPatient }
}
