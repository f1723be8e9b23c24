import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, sql } from 'kysely'
import pg from 'pg'
import { DatabaseRefused, DatabaseUnavailable, QueryTooSlow, StatementTimeout } from './errors.ts'
import type {
  DatabasePort,
  GroupedOperation,
  GroupedOperations,
  ReadOperations,
  WriteOperation,
  WriteOperations,
} from './port.ts'
import { directReader, postgresDialect, silenceTimeoutMilliseconds } from './postgres-driver.ts'
import { isConflict } from './postgres-errors.ts'
import { WriteGroup } from './postgres-group.ts'
import { PipelinedConnection } from './postgres-pipeline.ts'
import { ConnectionLosses, PooledConnections } from './postgres-pool.ts'
import { readDirectly } from './prepared.ts'
import type { Database } from './tables.ts'

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
/** A connection that was lost sooner than this costs the caller nothing if the transaction is run again. */
const promptLossMilliseconds = 1_000
/** A server that needs longer for nothing is not one to send callers to. */
const pingLimitMilliseconds = 1_500
const conflictTries = 5

/** Both engines give the same values: int8 as a number (all of ours are below 2^53). */
export const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)

/** Opens a migrated database. Operations run in this process, in READ COMMITTED: the conditional UPDATE decides. */
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
  const transactions = new Kysely<Database>({
    dialect: postgresDialect(pool, { namedStatements, transactionLimitMilliseconds }),
  })
  const groups = groupsOf(
    groupedOperations,
    operations,
    transactions,
    new Kysely<Database>({
      dialect: postgresDialect(pool, {
        namedStatements,
        namePrefix: 'g',
        transactionLimitMilliseconds,
        lockLimitMilliseconds: groupLockTimeoutMilliseconds,
      }),
    }),
  )
  /** The limit is a matter of the connection's transactions, and the same for all lists. */
  const snapshotsByLimit = new Map<number, Kysely<Database>>()
  const snapshotsWithin = (statementsLimitMilliseconds: number) => {
    const known = snapshotsByLimit.get(statementsLimitMilliseconds)
    if (known !== undefined) return known
    const namePrefix = `w${statementsLimitMilliseconds}_`
    const limits = { transactionLimitMilliseconds, statementsLimitMilliseconds }
    const dialect = postgresDialect(pool, { namedStatements, namePrefix, ...limits })
    const made = new Kysely<Database>({ dialect })
    snapshotsByLimit.set(statementsLimitMilliseconds, made)
    return made
  }

  return {
    defersTally: true,
    read,
    // biome-ignore lint/suspicious/noExplicitAny: the registry's types are checked at the call (port.ts)
    query: async (name, input, { limitMilliseconds }): Promise<any> =>
      (await reads[name]?.single?.(read, input)) ??
      runRead(snapshotsWithin(limitMilliseconds), reads, name, input),
    // biome-ignore lint/suspicious/noExplicitAny: the registry's types are checked at the call (port.ts)
    write: (name, input): Promise<any> =>
      groups.get(name)?.write(input) ?? runWrite(transactions, operationOf(operations, name), input),
    async ping() {
      const answer = sql`select 1 from roles limit 1`.execute(read)
      const timer = new AbortController()
      const late = delay(pingLimitMilliseconds, 'late', { signal: timer.signal }).catch(() => undefined)
      try {
        if ((await Promise.race([answer, late])) !== 'late') return
      } finally {
        timer.abort()
      }
      answer.catch(() => undefined)
      throw new DatabaseUnavailable(`no answer within ${pingLimitMilliseconds} ms`)
    },
    async backup() {
      throw new DatabaseRefused(
        'DATABASE_URL: PostgreSQL has its own tools for this (pg_dump, pg_basebackup)',
      )
    },
    async close() {
      await Promise.all([...groups.values()].map((group) => group.idle()))
      await Promise.all([pool.close(), pipeline.close()])
    },
  }
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
      .execute(
        async (snapshot) => (await operation.quick?.(snapshot, input)) ?? operation.run(snapshot, input),
      )
  } catch (error) {
    if (!(error instanceof StatementTimeout)) throw error
    throw new QueryTooSlow('the query ran longer than its limit', { cause: error })
  }
}

function operationOf(operations: WriteOperations, name: string): WriteOperation {
  const operation = operations[name]
  if (operation === undefined) throw new Error(`no operation ${name}`)
  return operation
}

function groupsOf(
  grouped: GroupedOperations,
  operations: WriteOperations,
  transactions: Kysely<Database>,
  groupTransactions: Kysely<Database>,
): Map<string, WriteGroup> {
  return new Map(
    Object.entries(grouped).map(([name, runGroup]) => [
      name,
      new WriteGroup({
        together: (inputs) => runWrite(groupTransactions, runGroup, inputs) as Promise<unknown[]>,
        alone: (input) => runWrite(transactions, operationOf(operations, name), input),
      }),
    ]),
  )
}

/**
 * Runs the operation again on a conflict, for then nothing was written, and once on a connection that was lost before
 * the commit was sent. A connection lost during the commit leaves the outcome unknown: that is passed on.
 */
async function runWrite(
  transactions: Kysely<Database>,
  run: WriteOperation | GroupedOperation,
  // biome-ignore lint/suspicious/noExplicitAny: of the operation
  input: any,
): Promise<unknown> {
  const startedAt = performance.now()
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
      } else if (isLostConnection(error) && !isCommitting && !isRetriedAfterLoss && isPrompt(startedAt)) {
        isRetriedAfterLoss = true
      } else {
        throw isConflict(error) ? new DatabaseUnavailable('too many conflicts', { cause: error }) : error
      }
    }
  }
}

/** After a long silence the caller has waited enough. */
function isPrompt(startedAt: number): boolean {
  return performance.now() - startedAt < promptLossMilliseconds
}

/** `LockTimeout` is a `DatabaseUnavailable` too, as is `StatementTimeout`, but waiting again would only wait longer. */
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
