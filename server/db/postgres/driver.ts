import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from '#kysely'
import { DatabaseUnavailable, LockTimeout, StatementTimeout } from '../errors.ts'
import type { ConnectionSource } from './connections.ts'

export interface DialectOptions {
  /** Undefined behind a pooler that hands out connections by transaction. */
  names: StatementNames | undefined
  /**
   * Limit for all statements of a transaction together, by this side's clock. Past it, no commit is sent and
   * the connection is dropped.
   */
  transactionLimitMilliseconds?: number
  /** Limit for all statements of a transaction together. The server cancels the one that exceeds it. */
  statementsLimitMilliseconds?: number
  /** Settings of PostgreSQL for each transaction, in milliseconds. */
  limits?: Record<string, number>
}

/** Kysely on PostgreSQL connections, with the driver's errors turned into the port's. */
export function postgresDialect(source: ConnectionSource, options: DialectOptions): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PostgresDriver(source, options),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

/** How long each side waits for a silent one: this side for the server, and the server for this side. */
export const silenceTimeoutMilliseconds = 5_000

/** For an answer that a working server gives at once. Throws `DatabaseUnavailable` if none comes. */
export async function within<T>(milliseconds: number, answer: Promise<T>): Promise<T> {
  const timer = new AbortController()
  const silence = delay(milliseconds, undefined, { signal: timer.signal }).then(() => {
    throw new DatabaseUnavailable(`no answer within ${milliseconds} ms`)
  })
  // The one that settles second must not count as unhandled.
  silence.catch(() => undefined)
  answer.catch(() => undefined)
  try {
    return await Promise.race([answer, silence])
  } finally {
    timer.abort()
  }
}

/** Once earlier statements have used this much of the time, the server gets what is left as its limit. */
const noticeableMilliseconds = 20

/** Filters make any number of statements, and a named one costs memory on every connection of the server. */
const namedStatementsLimit = 256

/** A named statement is parsed and planned once for a connection: half the cost of a small query. */
export class StatementNames {
  readonly #names = new Map<string, string | undefined>()
  readonly #prefix: string

  /** Two sources of names for one connection need two prefixes. */
  constructor(prefix: string) {
    this.#prefix = prefix
  }

  of(sql: string): string | undefined {
    if (this.#names.has(sql) || this.#names.size >= namedStatementsLimit) return this.#names.get(sql)
    const name = `${this.#prefix}${this.#names.size}`
    this.#names.set(sql, name)
    return name
  }

  /**
   * The statement has no name from now on. Under another one, a pooler would find the same prepared statement
   * by its text.
   */
  forget(sql: string): void {
    this.#names.set(sql, undefined)
  }
}

/**
 * A later version changed the columns that a prepared statement returns, which ended its transaction. The
 * statement has lost its name, so the whole transaction can run again.
 */
class OutdatedStatement extends Error {}

/** Runs a transaction again each time that one of its statements turns out to be outdated. */
export async function withCurrentStatements<T>(transaction: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await transaction()
    } catch (error) {
      if (!(error instanceof OutdatedStatement)) throw error
    }
  }
}

class PostgresDriver implements Driver {
  readonly #source: ConnectionSource
  readonly #options: DialectOptions

  constructor(source: ConnectionSource, options: DialectOptions) {
    this.#source = source
    this.#options = options
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    try {
      return new PostgresConnection(await this.#source.acquire(), this.#options.names)
    } catch (error) {
      throw translateConnectError(error)
    }
  }

  async beginTransaction(connection: PostgresConnection, settings: TransactionSettings): Promise<void> {
    const { isolationLevel, accessMode } = settings
    const isolation = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`
    await connection.begin(`begin${isolation} ${accessMode ?? ''}`, this.#options)
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.commit()
  }

  /** Gives up a failed connection instead: the server rolls back what was never committed. */
  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    if (!connection.hasFailed) await connection.run('rollback').catch(() => undefined)
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    this.#source.release(connection.client, connection.hasFailed)
  }

  async destroy(): Promise<void> {}
}

class PostgresConnection implements DatabaseConnection {
  readonly client: pg.Client
  /** Whether the connection failed, and not only a statement. */
  hasFailed = false

  /** When the transaction, and its statements, must end, by the clock of `performance`. */
  #isInTransaction = false
  #deadline = Number.POSITIVE_INFINITY
  #statementsDeadline = Number.POSITIVE_INFINITY
  /** The statement timeout that the server has now. */
  #statementTimeout = Number.POSITIVE_INFINITY
  readonly #names: StatementNames | undefined

  constructor(client: pg.Client, names: StatementNames | undefined) {
    this.client = client
    this.#names = names
  }

  /** Sends the limits with the begin, so that they cost no round trip. */
  async begin(begin: string, options: DialectOptions): Promise<void> {
    const { transactionLimitMilliseconds, statementsLimitMilliseconds, limits = {} } = options
    const settings = Object.entries(limits).map(([name, limit]) => `set local ${name} = ${limit}`)
    this.#deadline = performance.now() + (transactionLimitMilliseconds ?? Number.POSITIVE_INFINITY)
    await this.run([begin, ...settings].join('; '))
    this.#isInTransaction = true
    this.#statementTimeout = statementsLimitMilliseconds ?? Number.POSITIVE_INFINITY
    this.#statementsDeadline = performance.now() + this.#statementTimeout
  }

  /**
   * Waits for the answer to the commit for as long as it takes: the outcome matters more than a quick answer.
   */
  async commit(): Promise<void> {
    if (this.#deadline > performance.now()) this.#deadline = Number.POSITIVE_INFINITY
    const { command } = await this.#query((limits) => this.client.query({ text: 'commit', ...limits }))
    // After an error ended the transaction, PostgreSQL answers COMMIT with ROLLBACK and no error.
    if (command !== 'COMMIT') throw new Error(`the transaction was ended by ${command}`)
  }

  async run(text: string): Promise<void> {
    await this.#query((limits) => this.client.query({ text, ...limits }))
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    await this.#limitStatement()
    const name = this.#names?.of(query.sql)
    try {
      return await this.#execute(query, name)
    } catch (error) {
      if (name === undefined || !isOutdated(error)) throw error
      this.#names?.forget(query.sql)
      if (this.#isInTransaction)
        throw new OutdatedStatement('a prepared statement is outdated', { cause: error })
      return this.#execute(query, undefined)
    }
  }

  async #execute<Row>(query: CompiledQuery, name: string | undefined): Promise<QueryResult<Row>> {
    const config = { text: query.sql, values: [...query.parameters], ...(name === undefined ? {} : { name }) }
    const result = await this.#query((limits) =>
      this.client.query<Row & pg.QueryResultRow>({ ...config, ...limits }),
    )
    return { rows: result.rows, numAffectedRows: BigInt(result.rowCount ?? 0) }
  }

  /** Sends the server a new limit once the statements before have used up enough of it. */
  async #limitStatement(): Promise<void> {
    if (this.#statementTimeout === Number.POSITIVE_INFINITY) return
    const left = Math.ceil(this.#statementsDeadline - performance.now())
    if (this.#statementTimeout - left < noticeableMilliseconds) return
    // The server did not stop anything, so the time was lost on the way there.
    if (left <= 0) throw new DatabaseUnavailable('the answers of the server took too long')
    await this.run(`set local statement_timeout = ${left}`)
    this.#statementTimeout = left
  }

  // biome-ignore lint/correctness/useYield: Kysely's interface wants a generator; nothing here streams
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not offered by this driver')
  }

  async #query<T>(send: (limits: { query_timeout?: number }) => Promise<T>): Promise<T> {
    const left = this.#deadline - performance.now()
    if (left <= 0) {
      this.hasFailed = true
      throw new DatabaseUnavailable('the transaction took too long')
    }
    try {
      // The driver's limit for a silent server applies, unless less time than that is left.
      return await send(left < silenceTimeoutMilliseconds ? { query_timeout: Math.ceil(left) } : {})
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) this.hasFailed = true
      throw translatePostgresError(error)
    }
  }
}

/**
 * Classes of errors that mean "not now" and not a fault in the statement.
 * https://www.postgresql.org/docs/18/errcodes-appendix.html
 */
const unavailableClasses = /^(08|53|57P|58|F0|XX)/
/** Read-only (a standby), and invalid transaction states after a lost connection. */
const unavailableCodes = new Set(['25006', '25P02', '25P03'])
const refusals: Record<string, 'full' | 'read-only'> = { '53100': 'full', '25006': 'read-only' }
/** A named statement is missing or exists already: the connection is not the one it was. */
const poolerCodes = new Set(['26000', '42P05'])
const poolerHint =
  ' (behind a pooler that hands out connections by transaction, DATABASE_POOLER is transaction)'

/** Turns the errors of PostgreSQL and its driver into the port's. */
export function translatePostgresError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) return translateServerError(error)
  if (!(error instanceof Error)) return error
  if (isConnectionError(error)) {
    return new DatabaseUnavailable(`the connection failed: ${messageOf(error)}`, { cause: error })
  }
  return error
}

/** Without a connection nothing works, whatever the reason: a changed password, a renamed database, TLS. */
export function translateConnectError(error: unknown): unknown {
  const translated = translatePostgresError(error)
  if (translated instanceof DatabaseUnavailable || !(error instanceof Error)) return translated
  return new DatabaseUnavailable(`the connection failed: ${messageOf(error)}`, { cause: error })
}

/** An AggregateError has no message: join those of its errors. */
function messageOf(error: Error): string {
  if (!(error instanceof AggregateError)) return error.message
  return error.errors.map((one) => (one instanceof Error ? one.message : String(one))).join(', ')
}

function translateServerError(error: pg.DatabaseError): unknown {
  const code = error.code ?? ''
  if (code === '57014') return new StatementTimeout('a statement ran longer than its limit', { cause: error })
  if (code === '55P03') return new LockTimeout('a lock was held for too long', { cause: error })
  const isOfPooler = poolerCodes.has(code)
  if (isOfPooler || unavailableClasses.test(code) || unavailableCodes.has(code)) {
    const hint = isOfPooler ? poolerHint : ''
    const refusesWrites = refusals[code]
    return new DatabaseUnavailable(`PostgreSQL answered ${code}: ${error.message}${hint}`, {
      cause: error,
      refusesWrites,
    })
  }
  return error
}

/**
 * Serialization failure, deadlock, or a foreign key whose other row appeared or disappeared. Nothing was
 * written, and a second run sees the change.
 */
export function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && ['40001', '40P01', '23503'].includes(error.code ?? '')
}

/** "cached plan must not change result type", in whatever language the server says it. */
function isOutdated(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery'
  )
}

/** Messages of the driver, which gives these errors no code. */
const driverMessages =
  /Connection terminated|Query read timeout|not queryable|timeout exceeded when trying to connect|timeout expired|Client was closed|server closed the connection|pool after calling end/

/** Socket errors carry `syscall`. A host with several addresses fails with one error for each. */
function isConnectionError(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isConnectionError)
  return error instanceof Error && ('syscall' in error || driverMessages.test(error.message))
}
