import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type Sqlite from 'better-sqlite3'
import { Kysely } from 'kysely'
import { DatabaseUnavailable } from '../errors.ts'
import type { WriteOperation, WriteOperations } from '../port.ts'
import { runDirectly } from '../prepared.ts'
import type { Database } from '../tables.ts'
import { CachingConnection, sqliteDialect, translateErrors } from './driver.ts'
import { openWritable, watchPlace } from './files.ts'
import { DeferredSearch } from './search.ts'
import {
  type FromThread,
  type RefusalCodec,
  type ThreadRequest,
  type ThreadResult,
  type ToThread,
  toThreadResult,
} from './thread.ts'

/** Operations of one commit at most: bounds how long the first of them waits for its acknowledgement. */
const groupLimit = 256

/**
 * The loop of SQLite's writer thread: group commit. The operations that are waiting when the writer becomes free
 * run in one `BEGIN IMMEDIATE ... COMMIT`, so that one fsync pays for all of them, and one that throws rolls back
 * alone. Nothing is acknowledged before the commit that holds it is on disk (WAL, `synchronous=FULL`); when an error
 * ends the whole transaction, every operation of the group is answered `unavailable` and none of them has been written.
 */
export function runSqliteWriter(
  port: MessagePort,
  file: string,
  operations: WriteOperations,
  refusals: RefusalCodec,
): void {
  const connection = openWritable(file)
  const groups = new Groups(connection, operations, refusals, watchPlace(file))
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

/** What an operation throws to have its group begun again with a savepoint around each. */
class NeedsSavepoint extends Error {}

const together = { begin: 'begin immediate', commit: 'commit', rollback: ['rollback'] }
const apart = {
  begin: 'savepoint operation',
  commit: 'release operation',
  rollback: ['rollback to operation', 'release operation'],
}

class Groups {
  readonly #connection: Sqlite.Database
  readonly #operations: WriteOperations
  readonly #refusals: RefusalCodec
  readonly #assertInPlace: () => void
  readonly #together: Kysely<Database>
  readonly #apart: Kysely<Database>
  readonly #search: DeferredSearch
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
    this.#together = new Kysely<Database>({ dialect: sqliteDialect(connection, together) })
    this.#apart = new Kysely<Database>({ dialect: sqliteDialect(connection, apart) })
    const direct = new CachingConnection(connection)
    for (const db of [this.#together, this.#apart]) {
      runDirectly(db, {
        read: async (text, parameters) => direct.read(text, parameters),
        write: async (text, parameters) => direct.write(text, parameters),
      })
    }
    this.#search = new DeferredSearch(connection)
    this.#totalChanges = connection.prepare<[], number>('select total_changes()').pluck()
  }

  async run(group: ThreadRequest[]): Promise<ThreadResult[]> {
    try {
      return (await this.#runTogether(group)) ?? (await this.#runApart(group))
    } catch (error) {
      this.#rollBack()
      const message = error instanceof Error ? error.message : String(error)
      return group.map(({ id }) => ({ id, outcome: 'unavailable', message }))
    }
  }

  /**
   * Without savepoints, which cost as much as an operation, and with one addition to the search index for all. Undefined
   * when one of the operations threw after it had written: nothing has been done then.
   */
  async #runTogether(group: ThreadRequest[]): Promise<ThreadResult[] | undefined> {
    try {
      return await this.#together.transaction().execute(async (trx) => {
        const results: ThreadResult[] = []
        const isDeferred = group.length > 1
        if (isDeferred) translateErrors(() => this.#search.defer())
        for (const request of group) {
          const before = this.#totalChanges.get()
          const result = await this.#runOne(request, (run, input) => run(trx, input))
          if (result.outcome !== 'done' && this.#totalChanges.get() !== before) throw new NeedsSavepoint()
          results.push(result)
        }
        if (isDeferred) translateErrors(() => this.#search.indexAdded())
        this.#assertInPlace()
        return results
      })
    } catch (error) {
      if (error instanceof NeedsSavepoint) return undefined
      throw error
    }
  }

  async #runApart(group: ThreadRequest[]): Promise<ThreadResult[]> {
    translateErrors(() => this.#connection.exec('begin immediate'))
    const results: ThreadResult[] = []
    for (const request of group) {
      results.push(
        await this.#runOne(request, (run, input) =>
          this.#apart.transaction().execute((trx) => run(trx, input)),
        ),
      )
    }
    this.#assertInPlace()
    translateErrors(() => this.#connection.exec('commit'))
    return results
  }

  /** Throws only what ends the whole group. */
  async #runOne(
    { id, operation, input }: ThreadRequest,
    execute: (run: WriteOperation, input: unknown) => Promise<unknown>,
  ): Promise<ThreadResult> {
    const run = this.#operations[operation]
    if (run === undefined)
      return { id, outcome: 'failed', message: `no operation ${operation}`, stack: undefined }
    try {
      return { id, outcome: 'done', value: await execute(run, input) }
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error
      if (!this.#connection.inTransaction)
        throw new DatabaseUnavailable('the transaction was ended', { cause: error })
      return toThreadResult(id, error, this.#refusals)
    }
  }

  #rollBack(): void {
    try {
      if (this.#connection.inTransaction) this.#connection.exec('rollback')
    } catch {
      // The next BEGIN says whether the connection still works; what the group wrote was never committed.
    }
  }
}
