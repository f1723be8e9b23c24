import type { MessagePort } from 'node:worker_threads'
import { Kysely } from '#kysely'
import { QueryTooSlow, type RefusalCodec } from '../errors.ts'
import { HalvedTurns } from '../fair-queue.ts'
import { type QueryOptions, type ReadOperations, waitingLists } from '../port.ts'
import type { Database } from '../tables.ts'
import { sqliteDialect, translateErrors } from './driver.ts'
import { openReadOnly } from './files.ts'
import {
  DatabaseThread,
  type FromThread,
  type ThreadOptions,
  type ThreadRequest,
  type ThreadResult,
  type ToThread,
  toThreadResult,
} from './thread.ts'

const threads = 2
const turnLimits = {
  atOnce: threads,
  /** However expensive the lists of one client are, others have a thread. */
  atOnceOfCaller: 1,
  ...waitingLists,
  patienceMilliseconds: 10_000,
}

/**
 * The main thread's end of the readers: equal threads that start on first use, shared by callers in turns.
 */
export class Reads {
  readonly #turns = new HalvedTurns(turnLimits)
  readonly #threads: readonly DatabaseThread[]
  readonly #free: DatabaseThread[]

  constructor(options: Omit<ThreadOptions, 'name' | 'waitingLimit'>) {
    this.#threads = Array.from(
      { length: threads },
      () => new DatabaseThread({ ...options, name: 'a reader', waitingLimit: 1 }),
    )
    this.#free = [...this.#threads]
  }

  get load(): Record<string, number> {
    return this.#turns.load
  }

  query(
    name: string,
    input: unknown,
    { limitMilliseconds, caller, isLong = false }: QueryOptions,
  ): Promise<unknown> {
    return this.#turns.run(caller, isLong, async () => {
      const thread = this.#takeFree()
      try {
        return await thread.run(name, input, limitMilliseconds)
      } finally {
        this.#free.push(thread)
      }
    })
  }

  /** Lets running reads finish. */
  async close(): Promise<void> {
    this.#turns.close()
    await Promise.all(this.#threads.map((thread) => thread.close()))
  }

  /** There are as many turns as threads, so one is free. A thread that has started comes first. */
  #takeFree(): DatabaseThread {
    const begun = this.#free.findIndex(({ hasBegun }) => hasBegun)
    const [thread] = this.#free.splice(Math.max(begun, 0), 1)
    if (thread === undefined) throw new Error('there are more turns than threads')
    return thread
  }
}

/**
 * The loop of a reader thread: reads, one after another, each on one snapshot of the thread's read-only
 * connection. `within_time()` ends the calling query once the read has run longer than its limit.
 */
export function runSqliteReader(
  port: MessagePort,
  file: string,
  operations: ReadOperations,
  refusals: RefusalCodec,
): void {
  const connection = translateErrors(() => openReadOnly(file))
  let deadline = Number.POSITIVE_INFINITY
  connection.function('within_time', () => {
    if (performance.now() > deadline) throw new QueryTooSlow('the query ran longer than its limit')
    return 1
  })
  const db = new Kysely<Database>({ dialect: sqliteDialect(connection, 'begin') })
  let last: Promise<void> = Promise.resolve()

  async function run({ id, operation, input }: ThreadRequest): Promise<ThreadResult> {
    try {
      const read = operations[operation]
      if (read === undefined) throw new Error(`no read ${operation}`)
      return {
        id,
        outcome: 'done',
        value: await db.transaction().execute((snapshot) => read(snapshot, input)),
      }
    } catch (error) {
      return toThreadResult(id, error, refusals)
    }
  }

  async function answer(request: ThreadRequest): Promise<void> {
    deadline = performance.now() + (request.limitMilliseconds ?? Number.POSITIVE_INFINITY)
    const result = await run(request)
    deadline = Number.POSITIVE_INFINITY
    port.postMessage({ results: [result] } satisfies FromThread)
  }

  function end(): void {
    connection.close()
    port.close()
  }

  port.on('message', (message: ToThread) => {
    last = last.then(() => (message === 'close' ? end() : answer(message)))
  })
  port.postMessage({ ready: true } satisfies FromThread)
}
