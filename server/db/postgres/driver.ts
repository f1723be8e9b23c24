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
} from 'kysely'
import pg from 'pg'
import { DatabaseUnavailable, StatementTimeout } from '../errors.ts'
import type { ConnectionSource } from './connections.ts'
import { translateConnectError, translatePostgresError } from './errors.ts'

export interface DialectOptions {
  /** Undefined behind a pooler that hands out connections by transaction. */
  names: StatementNames | undefined
  /** By this side's clock, all its statements together; past it no commit is sent and the connection is given up. */
  transactionLimitMilliseconds?: number
  /** By the server's clock, the statements of a transaction together: it stops the one in which they pass it. */
  statementsLimitMilliseconds?: number
  /** Of each lock, in place of the connection's own limit. */
  lockLimitMilliseconds?: number
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

/** When the server does not answer at all, by this side's clock. */
export const silenceTimeoutMilliseconds = 5_000

/** Of the time of a transaction's statements: less is not worth a message to the server. */
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
    const isolation =
      settings.isolationLevel === undefined ? '' : ` isolation level ${settings.isolationLevel}`
    const access = settings.accessMode === undefined ? '' : ` ${settings.accessMode}`
    const { transactionLimitMilliseconds, statementsLimitMilliseconds, lockLimitMilliseconds } = this.#options
    const lockLimit =
      lockLimitMilliseconds === undefined ? '' : `; set local lock_timeout = ${lockLimitMilliseconds}`
    connection.deadline = performance.now() + (transactionLimitMilliseconds ?? Number.POSITIVE_INFINITY)
    const begin = `begin${isolation}${access}${lockLimit}`
    if (statementsLimitMilliseconds === undefined) await connection.run(begin)
    else await connection.beginWithin(begin, statementsLimitMilliseconds)
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
  /** Of the transaction, on the clock of `performance`. */
  deadline = Number.POSITIVE_INFINITY

  #statementsDeadline = Number.POSITIVE_INFINITY
  /** What the server stops a statement after. */
  #statementTimeout = Number.POSITIVE_INFINITY
  readonly #names: StatementNames | undefined

  constructor(client: pg.Client, names: StatementNames | undefined) {
    this.client = client
    this.#names = names
  }

  /** Once it is sent its answer is waited for: to know the outcome is worth more than to be quick. */
  async commit(): Promise<void> {
    if (this.deadline > performance.now()) this.deadline = Number.POSITIVE_INFINITY
    const { command } = await this.#query((limits) => this.client.query({ text: 'commit', ...limits }))
    // PostgreSQL answers the COMMIT of a transaction that an error has ended with ROLLBACK, and without an error.
    if (command !== 'COMMIT') throw new Error(`the transaction was ended by ${command}`)
  }

  /** In one message: the limits cost no way of their own. */
  async beginWithin(begin: string, limitMilliseconds: number): Promise<void> {
    // A lock in the way is the database's affair, and shall not look like a query that is too expensive.
    const limits = `set local statement_timeout = ${limitMilliseconds}; set local lock_timeout = ${Math.ceil(limitMilliseconds / 2)}`
    await this.run(`${begin}; ${limits}`)
    this.#statementTimeout = limitMilliseconds
    this.#statementsDeadline = performance.now() + limitMilliseconds
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
    if (this.#statementsDeadline === Number.POSITIVE_INFINITY) return
    const left = Math.ceil(this.#statementsDeadline - performance.now())
    if (this.#statementTimeout - left < noticeableMilliseconds) return
    if (left <= 0) throw new StatementTimeout('the statements together ran longer than their limit')
    await this.run(`set local statement_timeout = ${left}`)
    this.#statementTimeout = left
  }

  // biome-ignore lint/correctness/useYield: Kysely's interface wants a generator; nothing here streams
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not offered by this driver')
  }

  async #query<T>(send: (limits: { query_timeout?: number }) => Promise<T>): Promise<T> {
    const left = this.deadline - performance.now()
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
