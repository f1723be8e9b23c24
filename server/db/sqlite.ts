import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type Sqlite from 'better-sqlite3'
import { Kysely, sql } from 'kysely'
import { DatabaseRefused, DatabaseUnavailable, QueryTooSlow } from './errors.ts'
import { migrate } from './migrate.ts'
import type { DatabasePort, WriteOperations } from './port.ts'
import { readDirectly } from './prepared.ts'
import { CachingConnection, sqliteDialect, translateErrors } from './sqlite-driver.ts'
import { openReadOnly, openWritable, prepareFile } from './sqlite-files.ts'
import type { FromWriter, RefusalCodec, ToWriter, WriteResult } from './sqlite-writer.ts'
import type { Database } from './tables.ts'

/** Writes that may wait for the writer thread; one more is refused at once instead of piling up. */
const waitingWritesLimit = 10_000
/** Lists that may wait for their turn. */
const waitingSnapshotsLimit = 256
const restartDelayMilliseconds = 200

const plainTransaction = { begin: 'begin', commit: 'commit', rollback: ['rollback'] }

/**
 * From one snapshot: without, every commit of a running service would make the copy begin again. The pages that the
 * snapshot needs stay in the write-ahead log for as long as it takes.
 */
async function backUp(file: string, target: string): Promise<void> {
  const snapshot = translateErrors(() => openReadOnly(file))
  try {
    snapshot.exec('begin')
    snapshot.prepare('select 1 from sqlite_schema limit 1').get()
    await snapshot.backup(target)
  } finally {
    snapshot.close()
  }
}

/** Migrates the file, all or nothing, under the write lock (two processes may start at once). */
export async function migrateSqlite(file: string): Promise<string[]> {
  prepareFile(file)
  let connection: Sqlite.Database | undefined
  try {
    connection = translateErrors(() => openWritable(file))
    const immediate = { ...plainTransaction, begin: 'begin immediate' }
    const db = new Kysely<Database>({ dialect: sqliteDialect(connection, immediate) })
    return await db.transaction().execute((trx) => migrate(trx, 'sqlite'))
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error
    throw new DatabaseRefused(`DATABASE_URL: ${file} cannot be used: ${error.message}`, { cause: error })
  } finally {
    connection?.close()
  }
}

/**
 * Opens a migrated file: a read-only connection in this thread, and the writer in a thread of its own whose entry
 * module is `writerEntry` (it brings the operations and calls `runSqliteWriter`).
 */
export async function openSqlite<Operations extends WriteOperations>(
  file: string,
  writerEntry: URL,
  refusals: RefusalCodec,
): Promise<DatabasePort<Operations>> {
  const connection = translateErrors(() => openReadOnly(file))
  let deadline = Number.POSITIVE_INFINITY
  connection.function('within_time', () => {
    if (performance.now() > deadline) throw new QueryTooSlow('the query ran longer than its limit')
    return 1
  })
  const read = new Kysely<Database>({ dialect: sqliteDialect(connection, plainTransaction) })
  const direct = new CachingConnection(connection)
  readDirectly(read, async (text, parameters) => direct.read(text, parameters))
  const turns = new Turns()
  const writer = await WriterThread.start(writerEntry, file, refusals).catch((error: unknown) => {
    connection.close()
    throw error
  })

  return {
    read,
    readWithin: (limitMilliseconds, query) =>
      turns.take(() =>
        read.transaction().execute(async (snapshot) => {
          deadline = performance.now() + limitMilliseconds
          try {
            return await query(snapshot)
          } finally {
            deadline = Number.POSITIVE_INFINITY
          }
        }),
      ),
    // biome-ignore lint/suspicious/noExplicitAny: the registry's types are checked at the call (port.ts)
    write: (name, input) => writer.run(name, input) as Promise<any>,
    async ping() {
      await sql`select 1 from roles limit 1`.execute(read)
      if (!existsSync(file)) throw new DatabaseUnavailable(`the database file is gone`)
      writer.assertRunning()
    },
    async backup(target) {
      if (existsSync(target)) throw new DatabaseRefused(`${target} exists already`)
      await backUp(file, target)
    },
    async close() {
      await writer.close()
      connection.close()
    },
  }
}

/**
 * Snapshots hold the event loop while they run (ADR 0008), so they run one at a time, and everything else that has
 * arrived is served between two of them.
 */
class Turns {
  #waiting = 0
  #last: Promise<unknown> = Promise.resolve()

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= waitingSnapshotsLimit) throw new DatabaseUnavailable('too many lists are waiting')
    this.#waiting += 1
    const mine = this.#last.then(() => turnOfTheLoop()).then(work)
    this.#last = mine.catch(() => undefined)
    try {
      return await mine
    } finally {
      this.#waiting -= 1
    }
  }
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

/** The main thread's end of the writer: restarts it when it dies, after failing what it had not acknowledged. */
class WriterThread {
  readonly #entry: URL
  readonly #file: string
  readonly #refusals: RefusalCodec
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #nextId = 1
  #closing = false
  #launching: Promise<void> | undefined
  #end: Promise<void> | undefined

  static async start(entry: URL, file: string, refusals: RefusalCodec): Promise<WriterThread> {
    const thread = new WriterThread(entry, file, refusals)
    try {
      await thread.#launch()
    } catch (error) {
      thread.#closing = true
      throw error
    }
    return thread
  }

  private constructor(entry: URL, file: string, refusals: RefusalCodec) {
    this.#entry = entry
    this.#file = file
    this.#refusals = refusals
  }

  run(operation: string, input: unknown): Promise<unknown> {
    const worker = this.#worker
    if (worker === undefined || this.#closing) {
      return Promise.reject(new DatabaseUnavailable('the writer is not running'))
    }
    if (this.#waiting.size >= waitingWritesLimit) {
      return Promise.reject(new DatabaseUnavailable('too many writes are waiting'))
    }
    return new Promise((resolve, reject) => {
      const id = this.#nextId++
      this.#waiting.set(id, { resolve, reject })
      try {
        worker.postMessage({ id, operation, input } satisfies ToWriter)
      } catch (error) {
        this.#waiting.delete(id)
        reject(error as Error)
      }
    })
  }

  assertRunning(): void {
    if (this.#worker === undefined) throw new DatabaseUnavailable('the writer is not running')
  }

  close(): Promise<void> {
    this.#end ??= this.#endWriter()
    return this.#end
  }

  async #endWriter(): Promise<void> {
    this.#closing = true
    await this.#launching?.catch(() => undefined)
    const worker = this.#worker
    if (worker === undefined) return
    const exit = once(worker, 'exit')
    worker.postMessage('close' satisfies ToWriter)
    await exit
  }

  #launch(): Promise<void> {
    this.#launching = this.#start()
    return this.#launching
  }

  #start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const worker = new Worker(this.#entry, { workerData: { file: this.#file } })
      let failure: Error | undefined
      worker.on('message', (message: FromWriter) => {
        if ('ready' in message) {
          this.#worker = worker
          resolve()
        } else {
          for (const result of message.results) this.#settle(result)
        }
      })
      worker.on('error', (error: Error) => {
        failure = error
      })
      worker.on('exit', () => {
        reject(failure ?? new DatabaseUnavailable('the writer ended before it was ready'))
        this.#ended(failure)
      })
    })
  }

  #settle(result: WriteResult): void {
    const waiting = this.#waiting.get(result.id)
    if (waiting === undefined) return
    this.#waiting.delete(result.id)
    if (result.outcome === 'done') waiting.resolve(result.value)
    else if (result.outcome === 'refused') waiting.reject(this.#refusals.fromPlain(result.refusal))
    else if (result.outcome === 'unavailable') waiting.reject(new DatabaseUnavailable(result.message))
    else waiting.reject(Object.assign(new Error(result.message), { stack: result.stack }))
  }

  #ended(cause: Error | undefined): void {
    this.#worker = undefined
    for (const waiting of this.#waiting.values()) {
      waiting.reject(new DatabaseUnavailable('the writer ended before it answered', { cause }))
    }
    this.#waiting.clear()
    if (!this.#closing) this.#restartLater()
  }

  #restartLater(): void {
    setTimeout(() => {
      // A launch that fails has ended its worker, which schedules the next one.
      if (!this.#closing) this.#launch().catch(() => undefined)
    }, restartDelayMilliseconds).unref()
  }
}
