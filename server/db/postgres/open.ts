import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, sql } from 'kysely'
import pg from 'pg'
import { DatabaseRefused, DatabaseUnavailable, QueryTooSlow, StatementTimeout } from '../errors.ts'
import { type TurnLimits, Turns } from '../fair-queue.ts'
import type { DatabasePort, GroupedOperations, ReadOperations, WriteOperations } from '../port.ts'
import { readDirectly } from '../prepared.ts'
import type { Database } from '../tables.ts'
import { directReader, postgresDialect, silenceTimeoutMilliseconds } from './driver.ts'
import { PipelinedConnection } from './pipeline.ts'
import { ConnectionLosses, PooledConnections } from './pool.ts'
import { Writes } from './writes.ts'

export interface PostgresOptions {
  url: string
  /** Connections for transactions; single reads share one more. */
  poolSize: number
  /** Behind a pooler that hands out connections by transaction: no named statements, no session settings. */
  transactionPooler: boolean
}

export const connectTimeoutMilliseconds = 3_000
/** Single reads are small; what takes longer is stopped by the server. */
const readTimeoutMilliseconds = 2_000
const writeTimeoutMilliseconds = 4_000
const lockTimeoutMilliseconds = 3_000
/** Of a group: one member that meets a lock shall not hold up the others, and waits alone. */
const groupLockTimeoutMilliseconds = 200
const idleInTransactionTimeoutMilliseconds = 5_000
/** Each statement may be answered in time and all of them together still take too long for whoever waits. */
const transactionLimitMilliseconds = 4_000
/** A server that needs longer for nothing is not one to send callers to. */
const pingLimitMilliseconds = 1_500

/** Both engines give the same values: int8 as a number (all of ours are below 2^53). */
export const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)

/** Opens a migrated database: one connection for single reads, a pool for writes and for reads of several statements. */
export function openPostgres<Operations extends WriteOperations, Reads extends ReadOperations>(
  options: PostgresOptions,
  operations: Operations,
  reads: Reads,
  groupedOperations: GroupedOperations = {},
): DatabasePort<Operations, Reads> {
  const losses = new ConnectionLosses()
  const pool = new PooledConnections(
    { ...clientConfig(options, writeTimeoutMilliseconds), max: options.poolSize, idleTimeoutMillis: 60_000 },
    losses,
  )
  const namedStatements = !options.transactionPooler
  const pipeline = new PipelinedConnection(clientConfig(options, readTimeoutMilliseconds), losses, {
    plansOnce: namedStatements,
  })
  const read = new Kysely<Database>({ dialect: postgresDialect(pipeline, { namedStatements }) })
  readDirectly(read, directReader(pipeline, { namedStatements, types }))
  const writes = new Writes({
    operations,
    groupedOperations,
    transactions: new Kysely<Database>({
      dialect: postgresDialect(pool, { namedStatements, transactionLimitMilliseconds }),
    }),
    groupTransactions: new Kysely<Database>({
      dialect: postgresDialect(pool, {
        namedStatements,
        namePrefix: 'g',
        transactionLimitMilliseconds,
        lockLimitMilliseconds: groupLockTimeoutMilliseconds,
      }),
    }),
  })
  const snapshotsWithin = snapshotsBy(pool, namedStatements)
  const turns = new Turns(turnsOf(options.poolSize))

  return {
    defersTally: true,
    read,
    // biome-ignore lint/suspicious/noExplicitAny: the registry's types are checked at the call (port.ts)
    query: (name, input, { limitMilliseconds, caller }): Promise<any> =>
      turns.run(caller, () => runRead(snapshotsWithin(limitMilliseconds), reads, name, input)),
    // biome-ignore lint/suspicious/noExplicitAny: the registry's types are checked at the call (port.ts)
    write: (name, input): Promise<any> => writes.write(name, input),
    ping: () => pingWithin(read, pingLimitMilliseconds),
    async backup() {
      throw new DatabaseRefused(
        'DATABASE_URL: PostgreSQL has its own tools for this (pg_dump, pg_basebackup)',
      )
    },
    async close() {
      turns.close()
      await writes.close()
      await Promise.all([pool.close(), pipeline.close()])
    },
  }
}

/** Lists that may take long leave connections to writes, and those of one caller leave some to the lists of others. */
function turnsOf(poolSize: number): TurnLimits {
  const atOnce = Math.max(1, Math.floor(poolSize * 0.7))
  return {
    atOnce,
    atOnceOfCaller: Math.ceil(atOnce / 2),
    waiting: 512,
    waitingOfCaller: 128,
    // As for a connection.
    patienceMilliseconds: connectTimeoutMilliseconds,
  }
}

/** The limit is a matter of the connection's transactions, and the same for all lists. */
function snapshotsBy(pool: PooledConnections, namedStatements: boolean) {
  const byLimit = new Map<number, Kysely<Database>>()
  return (statementsLimitMilliseconds: number): Kysely<Database> => {
    const known = byLimit.get(statementsLimitMilliseconds)
    if (known !== undefined) return known
    const namePrefix = `w${statementsLimitMilliseconds}_`
    const limits = { transactionLimitMilliseconds, statementsLimitMilliseconds }
    const dialect = postgresDialect(pool, { namedStatements, namePrefix, ...limits })
    const made = new Kysely<Database>({ dialect })
    byLimit.set(statementsLimitMilliseconds, made)
    return made
  }
}

async function pingWithin(read: Kysely<Database>, milliseconds: number): Promise<void> {
  const answer = sql`select 1 from roles limit 1`.execute(read)
  const timer = new AbortController()
  const late = delay(milliseconds, 'late', { signal: timer.signal }).catch(() => undefined)
  try {
    if ((await Promise.race([answer, late])) !== 'late') return
  } finally {
    timer.abort()
  }
  answer.catch(() => undefined)
  throw new DatabaseUnavailable(`no answer within ${milliseconds} ms`)
}

/** The server stops each statement after what is left of the limit for all of them. */
async function runRead(
  snapshots: Kysely<Database>,
  reads: ReadOperations,
  name: string,
  input: unknown,
): Promise<unknown> {
  const operation = reads[name]
  if (operation === undefined) throw new Error(`no read ${name}`)
  try {
    return await snapshots
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute((snapshot) => operation(snapshot, input))
  } catch (error) {
    if (!(error instanceof StatementTimeout)) throw error
    throw new QueryTooSlow('the query ran longer than its limit', { cause: error })
  }
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
