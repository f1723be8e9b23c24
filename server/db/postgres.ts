import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, sql } from 'kysely'
import pg from 'pg'
import { DatabaseRefused, DatabaseUnavailable } from './errors.ts'
import { migrate, pendingMigrations } from './migrate.ts'
import type { DatabasePort, WriteOperations } from './port.ts'
import { type ConnectionSource, postgresDialect } from './postgres-driver.ts'
import { isConflict, translatePostgresError } from './postgres-errors.ts'
import { PipelinedConnection } from './postgres-pipeline.ts'
import type { Database } from './tables.ts'

export interface PostgresOptions {
  url: string
  /** Connections for transactions; single reads share one more. */
  poolSize: number
  /** Behind a pooler that hands out connections by transaction: no named statements, no session settings. */
  transactionPooler: boolean
}

/** The oldest release whose features and planner this service is tested with. */
const oldestServerMajor = 15

const connectTimeoutMilliseconds = 3_000
/** Single reads are small; what takes longer is stopped by the server. */
const readTimeoutMilliseconds = 2_000
const writeTimeoutMilliseconds = 4_000
const lockTimeoutMilliseconds = 3_000
const idleInTransactionTimeoutMilliseconds = 5_000
/** When the server does not answer at all, by this side's clock. */
const silenceTimeoutMilliseconds = 5_000
const conflictTries = 5

/** Both engines give the same values: int8 as a number (all of ours are below 2^53). */
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)

/** Opens a migrated database. Operations run in this process, in READ COMMITTED: the conditional UPDATE decides. */
export function openPostgres<Operations extends WriteOperations>(
  options: PostgresOptions,
  operations: Operations,
): DatabasePort<Operations> {
  const pool = new pg.Pool({
    ...clientConfig(options, writeTimeoutMilliseconds),
    max: options.poolSize,
    idleTimeoutMillis: 60_000,
  })
  // A connection that dies while idle is replaced when the next one is needed.
  pool.on('error', () => undefined)
  const pipeline = new PipelinedConnection(clientConfig(options, readTimeoutMilliseconds))
  const dialectOptions = { namedStatements: !options.transactionPooler }
  const read = new Kysely<Database>({ dialect: postgresDialect(pipeline, dialectOptions) })
  const transactions = new Kysely<Database>({ dialect: postgresDialect(poolSource(pool), dialectOptions) })

  return {
    read,
    readWithin: (limitMilliseconds, query) =>
      transactions
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute(async (snapshot) => {
          await sql`set local statement_timeout = ${sql.raw(String(limitMilliseconds))}`.execute(snapshot)
          return query(snapshot)
        }),
    // biome-ignore lint/suspicious/noExplicitAny: the registry's types are checked at the call (port.ts)
    write: (name, input) => runWrite(transactions, operations, name, input) as Promise<any>,
    async ping() {
      await sql`select 1 from roles limit 1`.execute(read)
    },
    async backup() {
      throw new DatabaseRefused(
        'DATABASE_URL: PostgreSQL has its own tools for this (pg_dump, pg_basebackup)',
      )
    },
    async close() {
      await Promise.all([pool.end(), pipeline.close()])
    },
  }
}

/**
 * Runs the operation again on a conflict, for then nothing was written, and once on a connection that was lost before
 * the commit was sent. A connection lost during the commit leaves the outcome unknown: that is passed on.
 */
async function runWrite(
  transactions: Kysely<Database>,
  operations: WriteOperations,
  name: string,
  input: unknown,
): Promise<unknown> {
  const run = operations[name]
  if (run === undefined) throw new Error(`no operation ${name}`)
  let isRetriedAfterLoss = false
  for (let attempt = 1; ; attempt += 1) {
    let isCommitting = false
    try {
      return await transactions
        .transaction()
        .setIsolationLevel('read committed')
        .execute(async (trx) => {
          const result = await run(trx, input)
          isCommitting = true
          return result
        })
    } catch (error) {
      if (isConflict(error) && attempt < conflictTries) {
        await delay(5 * attempt)
      } else if (isLostConnection(error) && !isCommitting && !isRetriedAfterLoss) {
        isRetriedAfterLoss = true
      } else {
        throw isConflict(error) ? new DatabaseUnavailable('too many conflicts', { cause: error }) : error
      }
    }
  }
}

/** `LockTimeout` is a `DatabaseUnavailable` too, but waiting again would only wait longer. */
function isLostConnection(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && error.name === 'DatabaseUnavailable'
}

function clientConfig(
  { url, transactionPooler }: PostgresOptions,
  statementTimeout: number,
): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'countersign',
    types,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeoutMilliseconds,
    query_timeout: silenceTimeoutMilliseconds,
    ...(transactionPooler
      ? {}
      : {
          statement_timeout: statementTimeout,
          lock_timeout: lockTimeoutMilliseconds,
          idle_in_transaction_session_timeout: idleInTransactionTimeoutMilliseconds,
        }),
  }
}

function poolSource(pool: pg.Pool): ConnectionSource {
  return {
    acquire: () => pool.connect(),
    release: (client, failed) => (client as pg.PoolClient).release(failed),
  }
}

/** 'countersign' in ASCII, cut to eight bytes: the lock under which instances that start together migrate. */
const migrationLock = '7165916604736402019'

/**
 * Migrates under an advisory lock, in one transaction. A role without the right to create tables can start as long
 * as nothing is to be applied. Waits for a server that does not answer yet, up to `waitMilliseconds`.
 */
export async function migratePostgres(
  options: PostgresOptions,
  waitMilliseconds: number,
  onWaiting: (message: string) => void,
): Promise<string[]> {
  const client = await connectPatiently(options, waitMilliseconds, onWaiting)
  try {
    await refuseOldServer(client)
    const db = new Kysely<Database>({
      dialect: postgresDialect(singleSource(client), { namedStatements: false }),
    })
    if ((await pendingMigrations(db, 'postgres')).length === 0) return []
    return await db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(${sql.raw(migrationLock)})`.execute(trx)
      return migrate(trx, 'postgres')
    })
  } catch (error) {
    throw explain(error)
  } finally {
    await client.end()
  }
}

function singleSource(client: pg.Client): ConnectionSource {
  return { acquire: async () => client, release: () => undefined }
}

async function connectPatiently(
  options: PostgresOptions,
  waitMilliseconds: number,
  onWaiting: (message: string) => void,
): Promise<pg.Client> {
  const giveUpAt = performance.now() + waitMilliseconds
  for (let attempt = 1; ; attempt += 1) {
    const client = new pg.Client({
      connectionString: options.url,
      application_name: 'countersign migration',
      types,
      connectionTimeoutMillis: connectTimeoutMilliseconds,
    })
    // After the connection is made its loss is reported by the query that runs into it.
    client.on('error', () => undefined)
    try {
      await client.connect()
      return client
    } catch (error) {
      await client.end().catch(() => undefined)
      const translated = translatePostgresError(error)
      const pause = Math.min(500 * attempt, 5_000)
      if (!(translated instanceof DatabaseUnavailable) || performance.now() + pause > giveUpAt)
        throw explain(error)
      onWaiting(`DATABASE_URL: PostgreSQL does not answer yet (${translated.message}); trying again`)
      await delay(pause)
    }
  }
}

async function refuseOldServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ server_version_num: string }>('show server_version_num')
  const major = Math.floor(Number(rows[0]?.server_version_num) / 10_000)
  if (major >= oldestServerMajor) return
  throw new DatabaseRefused(
    `DATABASE_URL: the server is PostgreSQL ${major}; version ${oldestServerMajor} or newer is needed`,
  )
}

const explanations: Record<string, string> = {
  '28P01': 'the password was not accepted',
  '28000': 'the role was not accepted',
  '3D000': 'there is no such database',
  '42501': 'the role may not create tables; let its owner run `migrate` first (docs/operations.md)',
}

/** One line for the operator, without the address. */
function explain(error: unknown): unknown {
  if (error instanceof DatabaseRefused) return error
  const code = error instanceof pg.DatabaseError ? error.code : undefined
  const known = code === undefined ? undefined : explanations[code]
  if (known !== undefined) return new DatabaseRefused(`DATABASE_URL: ${known}`, { cause: error })
  const translated = translatePostgresError(error)
  if (!(translated instanceof DatabaseUnavailable)) return error
  return new DatabaseRefused(`DATABASE_URL: PostgreSQL cannot be reached: ${translated.message}`, {
    cause: error,
  })
}
