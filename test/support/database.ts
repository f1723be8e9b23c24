import { randomBytes } from 'node:crypto'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { Kysely, PostgresDialect, SqliteDialect, type Transaction } from '#kysely'
import { parseDatabaseUrl } from '../../server/db/address.ts'
import type { Database } from '../../server/db/tables.ts'

/** The PostgreSQL server of this run, set by `tools/test.ts`. Without it tests run on SQLite. */
const serverUrl = process.env.TEST_DATABASE_URL

export const testEngine = serverUrl ? 'postgres' : 'sqlite'

export interface TestDatabase {
  databaseUrl: string
  /** SQLite only. */
  file: string
  drop(): Promise<void>
}

/** A new empty database for one test or one file of tests. */
export function createTestDatabase(): Promise<TestDatabase> {
  return serverUrl ? createPostgresDatabase(serverUrl) : createSqlite()
}

async function createSqlite(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-test-'))
  const file = join(folder, 'test.db')
  return { databaseUrl: `file:${file}`, file, drop: () => rm(folder, { recursive: true, force: true }) }
}

/** Nobody may have the original open. */
export async function copyTestDatabase({ databaseUrl, file }: TestDatabase): Promise<TestDatabase> {
  if (serverUrl) return createPostgresDatabase(serverUrl, new URL(databaseUrl).pathname.slice(1))
  const copy = await createSqlite()
  await copyFile(file, copy.file)
  return copy
}

/** Creates a database on the given server. */
export async function createPostgresDatabase(server: string, template = 'template1'): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await administer(server, `create database ${name} template ${template} strategy file_copy`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    databaseUrl: url.href,
    file: '',
    drop: () => administer(server, `drop database ${name} with (force)`),
  }
}

const administrations = new Map<string, pg.Pool>()

/** Runs statements at the server, on one connection for all calls. */
export async function administer(server: string, ...statements: string[]): Promise<void> {
  const pool = administrations.get(server) ?? poolTo(server)
  administrations.set(server, pool)
  for (const statement of statements) await pool.query(statement)
}

let rawTurn: Promise<unknown> = Promise.resolve()

/**
 * A writing connection that bypasses the service: for bulk, and for rows that no request makes. Tests that
 * run at the same time take turns, because SQLite has one writer.
 */
export function withRawDatabase<T>(
  databaseUrl: string,
  work: (trx: Transaction<Database>) => Promise<T>,
): Promise<T> {
  const result = rawTurn.then(() => inRawDatabase(databaseUrl, work))
  rawTurn = result.catch(() => undefined)
  return result
}

async function inRawDatabase<T>(
  databaseUrl: string,
  work: (trx: Transaction<Database>) => Promise<T>,
): Promise<T> {
  const kept = keptDatabases.get(databaseUrl)
  const db = kept ?? openRaw(databaseUrl)
  try {
    return await untilUnlocked(() => db.transaction().execute(work))
  } finally {
    if (kept === undefined) await db.destroy()
  }
}

const keptDatabases = new Map<string, Kysely<Database>>()

/** `withRawDatabase` keeps one connection until the returned function is called: a new one costs 6 ms. */
export function keepRawDatabase(databaseUrl: string): () => Promise<void> {
  const db = openRaw(databaseUrl)
  keptDatabases.set(databaseUrl, db)
  return async () => {
    keptDatabases.delete(databaseUrl)
    await db.destroy()
  }
}

function openRaw(databaseUrl: string): Kysely<Database> {
  const address = parseDatabaseUrl(databaseUrl)
  const dialect =
    address.engine === 'sqlite'
      ? new SqliteDialect({ database: new Sqlite(address.file) })
      : new PostgresDialect({ pool: poolTo(address.url) })
  return new Kysely<Database>({ dialect })
}

/** SQLite refuses a transaction that starts to write while another connection (the service's) writes. */
async function untilUnlocked<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt()
    } catch (error) {
      const isLocked = error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')
      if (!isLocked || tries === 200) throw error
      await pause(10)
    }
  }
}

/** May still be closing when the database is dropped. While it is idle, it keeps no process from ending. */
export function poolTo(connectionString: string, options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 1, allowExitOnIdle: true, ...options })
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool.on('error', () => undefined)
}
