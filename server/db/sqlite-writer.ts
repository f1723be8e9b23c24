import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type Sqlite from 'better-sqlite3'
import { Kysely } from 'kysely'
import { DatabaseUnavailable } from './errors.ts'
import type { WriteOperations } from './port.ts'
import { sqliteDialect, translateErrors } from './sqlite-driver.ts'
import { openWritable } from './sqlite-files.ts'
import {
  type FromThread,
  type RefusalCodec,
  type ThreadRequest,
  type ThreadResult,
  type ToThread,
  toThreadResult,
} from './sqlite-thread.ts'
import type { Database } from './tables.ts'

/** Operations of one commit at most: bounds how long the first of them waits for its acknowledgement. */
const groupLimit = 256

/**
 * The loop of SQLite's writer thread: group commit. The operations that are waiting when the writer becomes free
 * run in one `BEGIN IMMEDIATE ... COMMIT`, each in a savepoint, so that one fsync pays for all of them and one that
 * throws rolls back alone. Nothing is acknowledged before the commit that holds it is on disk (WAL,
 * `synchronous=FULL`); when an error ends the whole transaction, every operation of the group is answered
 * `unavailable` and none of them has been written.
 */
export function runSqliteWriter(
  port: MessagePort,
  file: string,
  operations: WriteOperations,
  refusals: RefusalCodec,
): void {
  const connection = openWritable(file)
  const db = new Kysely<Database>({
    dialect: sqliteDialect(connection, {
      begin: 'savepoint operation',
      commit: 'release operation',
      rollback: ['rollback to operation', 'release operation'],
    }),
  })
  const waiting: ThreadRequest[] = []
  let closing = false
  let scheduled = false

  async function drain(): Promise<void> {
    takeArrived()
    while (waiting.length > 0) {
      const results = await runGroup(connection, db, waiting.splice(0, groupLimit), operations, refusals)
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

async function runGroup(
  connection: Sqlite.Database,
  db: Kysely<Database>,
  group: ThreadRequest[],
  operations: WriteOperations,
  refusals: RefusalCodec,
): Promise<ThreadResult[]> {
  try {
    translateErrors(() => connection.exec('begin immediate'))
    const results: ThreadResult[] = []
    for (const request of group) results.push(await runOne(connection, db, request, operations, refusals))
    translateErrors(() => connection.exec('commit'))
    return results
  } catch (error) {
    rollBack(connection)
    const message = error instanceof Error ? error.message : String(error)
    return group.map(({ id }) => ({ id, outcome: 'unavailable', message }))
  }
}

/** Throws only what ends the whole group. */
async function runOne(
  connection: Sqlite.Database,
  db: Kysely<Database>,
  { id, operation, input }: ThreadRequest,
  operations: WriteOperations,
  refusals: RefusalCodec,
): Promise<ThreadResult> {
  const run = operations[operation]
  if (run === undefined)
    return { id, outcome: 'failed', message: `no operation ${operation}`, stack: undefined }
  try {
    const value = await db.transaction().execute((trx) => run(trx, input))
    return { id, outcome: 'done', value }
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error
    if (!connection.inTransaction)
      throw new DatabaseUnavailable('the transaction was ended', { cause: error })
    return toThreadResult(id, error, refusals)
  }
}

function rollBack(connection: Sqlite.Database): void {
  try {
    if (connection.inTransaction) connection.exec('rollback')
  } catch {
    // The next BEGIN says whether the connection still works; what the group wrote was never committed.
  }
}
