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
  /** By this side's clock, all its statements together; past it no commit is sent and the connection is given up. */
  transactionLimitMilliseconds?: number
  /** By the server's clock, the statements of a transaction together: it stops the one in which they pass it. */
  statementsLimitMilliseconds?: number
  /** Of each transaction, in milliseconds, by the names of PostgreSQL's settings. */
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

/** When the other side does not answer at all: the server by this side's clock, and this side by the server's. */
export const silenceTimeoutMilliseconds = 5_000

/** For what a server that is there answers at once. Throws `DatabaseUnavailable` when it does not. */
export async function within<T>(milliseconds: number, answer: Promise<T>): Promise<T> {
  const timer = new AbortController()
  const silence = delay(milliseconds, undefined, { signal: timer.signal }).then(() => {
    throw new DatabaseUnavailable(`no answer within ${milliseconds} ms`)
  })
  // Whichever of the two comes second is heard by nobody.
  silence.catch(() => undefined)
  answer.catch(() => undefined)
  try {
    return await Promise.race([answer, silence])
  } finally {
    timer.abort()
  }
}

/** The server is told of the time left only when the statements before have used this much: less is not worth a message. */
const noticeableMilliseconds = 20

/** Filters make unboundedly many statements; each named one costs memory on every connection of the server. */
const namedStatementsLimit = 256

/** A statement with a name is parsed and planned once for a connection, which is half of the cost of a small query. */
export class StatementNames {
  readonly #names = new Map<string, string>()
  readonly #prefix: string

  /** Two sources of names for one connection need two prefixes. */
  constructor(prefix: string) {
    this.#prefix = prefix
  }

  of(sql: string): string | undefined {
    const known = this.#names.get(sql)
    if (known !== undefined || this.#names.size >= namedStatementsLimit) return known
    const name = `${this.#prefix}${this.#names.size}`
    this.#names.set(sql, name)
    return name
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

  /** A connection that failed is thrown away instead: the server rolls back what was never committed. */
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
  /** A failure of the connection rather than of a statement. */
  hasFailed = false

  /** Of the transaction, and of its statements, on the clock of `performance`. */
  #deadline = Number.POSITIVE_INFINITY
  #statementsDeadline = Number.POSITIVE_INFINITY
  /** What the server stops a statement after. */
  #statementTimeout = Number.POSITIVE_INFINITY
  readonly #names: StatementNames | undefined

  constructor(client: pg.Client, names: StatementNames | undefined) {
    this.client = client
    this.#names = names
  }

  /** In one message: the limits cost no round trip of their own. */
  async begin(begin: string, options: DialectOptions): Promise<void> {
    const { transactionLimitMilliseconds, statementsLimitMilliseconds, limits = {} } = options
    const settings = Object.entries(limits).map(([name, limit]) => `set local ${name} = ${limit}`)
    this.#deadline = performance.now() + (transactionLimitMilliseconds ?? Number.POSITIVE_INFINITY)
    await this.run([begin, ...settings].join('; '))
    this.#statementTimeout = statementsLimitMilliseconds ?? Number.POSITIVE_INFINITY
    this.#statementsDeadline = performance.now() + this.#statementTimeout
  }

  /** Once it is sent its answer is waited for: to know the outcome is worth more than to be quick. */
  async commit(): Promise<void> {
    if (this.#deadline > performance.now()) this.#deadline = Number.POSITIVE_INFINITY
    const { command } = await this.#query((limits) => this.client.query({ text: 'commit', ...limits }))
    // PostgreSQL answers the COMMIT of a transaction that an error has ended with ROLLBACK, and without an error.
    if (command !== 'COMMIT') throw new Error(`the transaction was ended by ${command}`)
  }

  async run(text: string): Promise<void> {
    await this.#query((limits) => this.client.query({ text, ...limits }))
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    await this.#limitStatement()
    const name = this.#names?.of(query.sql)
    const config = { text: query.sql, values: [...query.parameters], ...(name === undefined ? {} : { name }) }
    const result = await this.#query((limits) =>
      this.client.query<Row & pg.QueryResultRow>({ ...config, ...limits }),
    )
    return { rows: result.rows, numAffectedRows: BigInt(result.rowCount ?? 0) }
  }

  /** Told to the server only when statements before have used up a part that counts. */
  async #limitStatement(): Promise<void> {
    if (this.#statementTimeout === Number.POSITIVE_INFINITY) return
    const left = Math.ceil(this.#statementsDeadline - performance.now())
    if (this.#statementTimeout - left < noticeableMilliseconds) return
    // The server, which stops what takes long, stopped nothing: it is the way there that took the time.
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
      // The driver's own limit on the silence of the server holds unless less time than that is left.
      return await send(left < silenceTimeoutMilliseconds ? { query_timeout: Math.ceil(left) } : {})
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) this.hasFailed = true
      throw translatePostgresError(error)
    }
  }
}

/** Not now, as against a fault in the statement. https://www.postgresql.org/docs/18/errcodes-appendix.html */
const unavailableClasses = /^(08|53|57P|58|F0|XX)/
/** Read-only (a standby), and invalid transaction states after a lost connection. */
const unavailableCodes = new Set(['25006', '25P02', '25P03'])
/** A statement with a name is not there, or there already: the connection is another one than before. */
const poolerCodes = new Set(['26000', '42P05'])
const poolerHint =
  ' (behind a pooler that hands out connections by transaction, DATABASE_POOLER is transaction)'

/** Turns the errors of PostgreSQL and of its driver into the port's. */
export function translatePostgresError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) return translateServerError(error)
  if (!(error instanceof Error)) return error
  if (isConnectionError(error)) {
    return new DatabaseUnavailable(`the connection failed: ${messageOf(error)}`, { cause: error })
  }
  return error
}

/** Without a connection nothing can be served, whatever the reason: a changed password, a renamed database, TLS. */
export function translateConnectError(error: unknown): unknown {
  const translated = translatePostgresError(error)
  if (translated instanceof DatabaseUnavailable || !(error instanceof Error)) return translated
  return new DatabaseUnavailable(`the connection failed: ${messageOf(error)}`, { cause: error })
}

/** Of an AggregateError, which has none of its own. */
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
    return new DatabaseUnavailable(`PostgreSQL answered ${code}: ${error.message}${hint}`, { cause: error })
  }
  return error
}

/**
 * Serialization failure, deadlock, and a foreign key: a row went that this refers to, or one came that refers to this.
 * Nothing was written, and who runs again sees it.
 */
export function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && ['40001', '40P01', '23503'].includes(error.code ?? '')
}

/** The driver says these in words only. */
const driverMessages =
  /Connection terminated|Query read timeout|not queryable|timeout exceeded when trying to connect|timeout expired|Client was closed|server closed the connection|pool after calling end/

/** What the system says of a socket names its call. A name with several addresses fails with one error for each. */
function isConnectionError(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isConnectionError)
  return error instanceof Error && ('syscall' in error || driverMessages.test(error.message))
}
