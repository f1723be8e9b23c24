import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type Sqlite from 'better-sqlite3'
import { Kysely, sql } from '#kysely'
import { DatabaseUnavailable, type RefusalCodec } from '../errors.ts'
import type { WriteOperations } from '../port.ts'
import { prepared } from '../prepared.ts'
import type { Database, Db, Trx } from '../tables.ts'
import { sqliteDialect } from './driver.ts'
import { openWritable, watchPlace } from './files.ts'
import {
  type FromThread,
  type ThreadRequest,
  type ThreadResult,
  type ToThread,
  toThreadResult,
  unavailable,
} from './thread.ts'
import { trialName, writeTrial } from './trial.ts'

/** Operations in one commit. This bounds how long the first of them waits for its acknowledgement. */
const groupLimit = 256

/**
 * The loop of SQLite's writer thread: group commit. All operations waiting when the writer becomes free run
 * in one `BEGIN IMMEDIATE ... COMMIT`, so that they share one fsync. None is acknowledged before its commit
 * is on disk (WAL, `synchronous=FULL`). If an error ends the whole transaction, every operation of the group
 * is answered `unavailable`, and none was written.
 */
export function runSqliteWriter(
  port: MessagePort,
  file: string,
  operations: WriteOperations,
  refusals: RefusalCodec,
): void {
  const connection = openWritable(file)
  // Each statement keeps the pages that it changes until it ends, beyond 64 KiB in a temporary file: without
  // that file, sealing an event takes 36 µs of processor time instead of 44.
  connection.pragma('temp_store = MEMORY')
  const groups = new Groups(
    connection,
    { ...operations, [trialName]: writeTrial },
    refusals,
    watchPlace(file),
  )
  const waiting: ThreadRequest[] = []
  let closing = false
  let scheduled = false

  async function drain(): Promise<void> {
    takeArrived()
    while (waiting.length > 0) {
      const results = await groups.run(waiting.splice(0, groupLimit))
      port.postMessage({ results } satisfies FromThread)
      takeArrived()
    }
    scheduled = false
    if (closing) {
      // Next to a running service, a command's writes would otherwise stay in the log. If the file cannot
      // grow, nothing is lost.
      try {
        connection.pragma('wal_checkpoint(PASSIVE)')
      } catch {}
      connection.close()
      port.close()
    }
  }

  function take(message: ToThread): void {
    if (message === 'close') closing = true
    else waiting.push(message)
  }

  function takeArrived(): void {
    for (let received = receiveMessageOnPort(port); received; received = receiveMessageOnPort(port)) {
      take(received.message)
    }
  }

  port.on('message', (message: ToThread) => {
    take(message)
    if (scheduled) return
    scheduled = true
    setImmediate(drain)
  })
  port.postMessage({ ready: true } satisfies FromThread)
}

/** Thrown to undo a group in which an operation failed after it had written. */
class WroteBeforeFailing extends Error {
  readonly result: ThreadResult
  /** The operation's position in its group. */
  readonly index: number

  constructor(result: ThreadResult, index: number) {
    super('the operation has written')
    this.result = result
    this.index = index
  }
}

/**
 * Puts off the text search of orders that a group adds (schema.ts), because FTS5 flushes after each statement
 * that adds to it. Once for a group saves 20 to 30 % of the writer's time (docs/performance.md). Both ends
 * lie in one transaction, so nobody else sees it put off.
 */
const putOffSearch = prepared(
  () => sql`
  update orders_search_deferral set indexed_to = (select coalesce(max(number), 0) from orders)`,
)
const searchAdded = prepared(
  () => sql`
  insert into orders_search (rowid, customer_folded)
    select number, customer_folded from orders where number > (select indexed_to from orders_search_deferral)`,
)
const resumeSearch = prepared(() => sql`update orders_search_deferral set indexed_to = 9223372036854775807`)

class Groups {
  readonly #connection: Sqlite.Database
  readonly #operations: WriteOperations
  readonly #refusals: RefusalCodec
  readonly #assertInPlace: () => void
  readonly #db: Db
  readonly #totalChanges: Sqlite.Statement<[], number>

  constructor(
    connection: Sqlite.Database,
    operations: WriteOperations,
    refusals: RefusalCodec,
    assertInPlace: () => void,
  ) {
    this.#connection = connection
    this.#assertInPlace = assertInPlace
    this.#operations = operations
    this.#refusals = refusals
    this.#db = new Kysely<Database>({ dialect: sqliteDialect(connection, 'begin immediate') })
    this.#totalChanges = connection.prepare<[], number>('select total_changes()').pluck()
  }

  /**
   * One transaction for all. If an operation fails after it had written, all are undone, and those before it,
   * itself and those after it run separately: a failure costs two more commits, not one for each member of
   * the group.
   */
  async run(group: ThreadRequest[]): Promise<ThreadResult[]> {
    try {
      return await this.#commit(group)
    } catch (error) {
      if (!(error instanceof WroteBeforeFailing)) {
        return group.map(({ id }) => unavailable(id, error))
      }
      if (group.length === 1) return [error.result]
      const results: ThreadResult[] = []
      const { index } = error
      for (const part of [group.slice(0, index), group.slice(index, index + 1), group.slice(index + 1)]) {
        if (part.length > 0) results.push(...(await this.run(part)))
      }
      return results
    }
  }

  #commit(group: ThreadRequest[]): Promise<ThreadResult[]> {
    return this.#db.transaction().execute(async (trx) => {
      const results: ThreadResult[] = []
      const isDeferred = group.length > 1
      if (isDeferred) await putOffSearch(trx, {})
      for (const [index, request] of group.entries()) {
        const before = this.#totalChanges.get()
        const result = await this.#runOne(trx, request)
        if (result.outcome !== 'done' && this.#totalChanges.get() !== before) {
          throw new WroteBeforeFailing(result, index)
        }
        results.push(result)
      }
      if (isDeferred) {
        await searchAdded(trx, {})
        await resumeSearch(trx, {})
      }
      this.#assertInPlace()
      return results
    })
  }

  /** Throws only an error that ends the whole transaction. */
  async #runOne(trx: Trx, request: ThreadRequest): Promise<ThreadResult> {
    const { id, operation, input } = request
    try {
      const run = this.#operations[operation]
      if (run === undefined) throw new Error(`no operation ${operation}`)
      return { id, outcome: 'done', value: await run(trx, input) }
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error
      if (!this.#connection.inTransaction) {
        throw new DatabaseUnavailable('the transaction was ended', { cause: error })
      }
      return toThreadResult(id, error, this.#refusals)
    }
  }
}
