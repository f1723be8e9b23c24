import { Kysely } from '#kysely'
import { QueryTooSlow, StatementTimeout } from '../errors.ts'
import { HalvedTurns } from '../fair-queue.ts'
import { type QueryOptions, type ReadOperations, waitingLists } from '../port.ts'
import type { Database, Db } from '../tables.ts'
import { type ConnectionSource, connectTimeoutMilliseconds } from './connections.ts'
import { type DialectOptions, postgresDialect, withCurrentStatements } from './driver.ts'

/** The named reads, each in one read-only transaction, in the order of the callers' turns. */
export class Reads {
  readonly #operations: ReadOperations
  readonly #turns: HalvedTurns
  readonly #source: ConnectionSource
  readonly #options: DialectOptions
  /** Keyed by the time limit, which is set for each transaction and is the same for all lists. */
  readonly #byLimit = new Map<number, Db>()

  constructor(
    operations: ReadOperations,
    source: ConnectionSource,
    { poolSize, ...options }: DialectOptions & { poolSize: number },
  ) {
    this.#operations = operations
    this.#source = source
    this.#options = options
    // Lists leave some connections to writes, and the lists of one caller leave some to other callers.
    const atOnce = Math.max(1, Math.floor(poolSize * 0.7))
    const atOnceOfCaller = Math.ceil(atOnce / 2)
    this.#turns = new HalvedTurns({
      atOnce,
      atOnceOfCaller,
      ...waitingLists,
      patienceMilliseconds: connectTimeoutMilliseconds,
    })
  }

  get load(): Record<string, number> {
    return this.#turns.load
  }

  query(
    name: string,
    input: unknown,
    { limitMilliseconds, caller, isLong = false }: QueryOptions,
  ): Promise<unknown> {
    return this.#turns.run(caller, isLong, () => this.#run(name, input, limitMilliseconds))
  }

  close(): void {
    this.#turns.close()
  }

  async #run(name: string, input: unknown, statementsLimitMilliseconds: number): Promise<unknown> {
    const operation = this.#operations[name]
    if (operation === undefined) throw new Error(`no read ${name}`)
    const snapshot = this.#snapshotsWithin(statementsLimitMilliseconds)
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
    try {
      return await withCurrentStatements(() => snapshot.execute((db) => operation(db, input)))
    } catch (error) {
      if (!(error instanceof StatementTimeout)) throw error
      throw new QueryTooSlow('the query ran longer than its limit', { cause: error })
    }
  }

  #snapshotsWithin(statementsLimitMilliseconds: number): Db {
    const made = this.#byLimit.get(statementsLimitMilliseconds)
    if (made !== undefined) return made
    const { transactionLimitMilliseconds = 0 } = this.#options
    if (statementsLimitMilliseconds >= transactionLimitMilliseconds) {
      throw new Error('the connection would be given up as lost before the server has stopped the query')
    }
    // Waiting for a lock is the database's affair and must not look like an expensive query.
    const limits = {
      ...this.#options.limits,
      statement_timeout: statementsLimitMilliseconds,
      lock_timeout: Math.ceil(statementsLimitMilliseconds / 2),
    }
    const options = { ...this.#options, statementsLimitMilliseconds, limits }
    const snapshots = new Kysely<Database>({ dialect: postgresDialect(this.#source, options) })
    this.#byLimit.set(statementsLimitMilliseconds, snapshots)
    return snapshots
  }
}
