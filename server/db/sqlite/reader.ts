import type { MessagePort } from 'node:worker_threads'
import { Kysely } from 'kysely'
import { DatabaseUnavailable, QueryTooSlow } from '../errors.ts'
import type { ReadOperations } from '../port.ts'
import { runDirectly } from '../prepared.ts'
import type { Database } from '../tables.ts'
import { CachingConnection, sqliteDialect, translateErrors } from './driver.ts'
import { openReadOnly } from './files.ts'
import {
  type FromThread,
  type RefusalCodec,
  type ThreadRequest,
  type ThreadResult,
  type ToThread,
  toThreadResult,
} from './thread.ts'

/** It walks long ranges once: what it keeps of them is seldom asked for again. */
const cacheKibibytes = 4_000

/**
 * The loop of a thread that runs read operations, one after the other, each on one snapshot of its own read-only
 * connection. `within_time()` ends the query that calls it once the operation has run for longer than its limit.
 */
export function runSqliteReader(
  port: MessagePort,
  file: string,
  operations: ReadOperations,
  refusals: RefusalCodec,
): void {
  const connection = translateErrors(() => openReadOnly(file, cacheKibibytes))
  let deadline = Number.POSITIVE_INFINITY
  connection.function('within_time', () => {
    if (performance.now() > deadline) throw new QueryTooSlow('the query ran longer than its limit')
    return 1
  })
  const transaction = { begin: 'begin', commit: 'commit', rollback: ['rollback'] }
  const db = new Kysely<Database>({ dialect: sqliteDialect(connection, transaction) })
  const direct = new CachingConnection(connection)
  runDirectly(db, {
    read: async (text, parameters) => direct.read(text, parameters),
    write: async (text, parameters) => direct.write(text, parameters),
  })
  let last: Promise<void> = Promise.resolve()

  async function answer(request: ThreadRequest): Promise<void> {
    deadline = performance.now() + (request.limitMilliseconds ?? Number.POSITIVE_INFINITY)
    const result = await runOne(db, request, operations, refusals)
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

async function runOne(
  db: Kysely<Database>,
  { id, operation, input }: ThreadRequest,
  operations: ReadOperations,
  refusals: RefusalCodec,
): Promise<ThreadResult> {
  try {
    const read = operations[operation]
    if (read === undefined) throw new DatabaseUnavailable(`no operation ${operation}`)
    const value = await db.transaction().execute((snapshot) => read.run(snapshot, input))
    return { id, outcome: 'done', value }
  } catch (error) {
    return toThreadResult(id, error, refusals)
  }
}
