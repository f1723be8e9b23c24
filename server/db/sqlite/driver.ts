import Sqlite from 'better-sqlite3'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from '#kysely'
import { AdapterOfConnection } from '../engine.ts'
import { DatabaseUnavailable, QueryTooSlow } from '../errors.ts'
import { Latest } from '../latest.ts'

/**
 * Statements kept for each connection. Filters can produce any number of texts, so the oldest is dropped
 * first.
 */
const keptStatements = 256

/**
 * Kysely on one open better-sqlite3 connection that keeps prepared statements (Kysely's dialect prepares one
 * for every query, which costs more than the query). Every call is synchronous underneath: a transaction that
 * awaits only queries never spans two turns of the event loop.
 */
export function sqliteDialect(
  connection: Sqlite.Database,
  begin: 'begin' | 'begin immediate',
  beforeQuery: () => void = () => undefined,
): Dialect {
  const driver = new SqliteDriver(connection, begin, beforeQuery)
  return {
    createAdapter: () => new AdapterOfConnection(driver),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

class SqliteDriver implements Driver, DatabaseConnection {
  readonly #connection: Sqlite.Database
  readonly #begin: Sqlite.Statement
  readonly #commit: Sqlite.Statement
  readonly #beforeQuery: () => void
  readonly #statements = new Latest<Sqlite.Statement<unknown[]>>(keptStatements)

  constructor(connection: Sqlite.Database, begin: string, beforeQuery: () => void) {
    this.#connection = connection
    this.#begin = connection.prepare(begin)
    this.#commit = connection.prepare('commit')
    this.#beforeQuery = beforeQuery
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this
  }

  async beginTransaction(): Promise<void> {
    translateErrors(() => this.#begin.run())
  }

  async commitTransaction(): Promise<void> {
    translateErrors(() => this.#commit.run())
  }

  /** After an error that ended the whole transaction (full disk, I/O), there is nothing to roll back. */
  async rollbackTransaction(): Promise<void> {
    if (this.#connection.inTransaction) translateErrors(() => this.#connection.exec('rollback'))
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return translateErrors(() => {
      this.#beforeQuery()
      const statement = this.#prepare(query.sql)
      if (statement.reader) return { rows: statement.all(...query.parameters) as Row[] }
      const { changes } = statement.run(...query.parameters)
      return { rows: [], numAffectedRows: BigInt(changes) }
    })
  }

  // biome-ignore lint/correctness/useYield: Kysely's interface wants a generator; nothing here streams
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not offered by this driver')
  }

  async releaseConnection(): Promise<void> {}

  /** The connection belongs to the code that opened it. */
  async destroy(): Promise<void> {}

  #prepare(sql: string): Sqlite.Statement<unknown[]> {
    const kept = this.#statements.get(sql)
    if (kept !== undefined) return kept
    const statement = this.#connection.prepare<unknown[]>(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

/** Result codes that mean "not now" and not a fault in the statement. https://sqlite.org/rescode.html */
const unavailable =
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|CORRUPT|NOTADB|PROTOCOL|NOMEM|PERM|AUTH|NOLFS)/

const refusals: Record<string, 'full' | 'read-only'> = { FULL: 'full', READONLY: 'read-only' }

/** Runs `work`, and turns the engine's errors into the port's. */
export function translateErrors<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof QueryTooSlow) throw error
    if (error instanceof Sqlite.SqliteError && unavailable.test(error.code)) {
      const refusesWrites = refusals[error.code.split('_')[1] ?? '']
      throw new DatabaseUnavailable(`SQLite answered ${error.code}: ${error.message}`, {
        cause: error,
        refusesWrites,
      })
    }
    if (error instanceof TypeError && error.message === 'The database connection is not open') {
      throw new DatabaseUnavailable('the database connection is closed', { cause: error })
    }
    throw error
  }
}
