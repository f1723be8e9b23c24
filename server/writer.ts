import { parentPort, workerData } from 'node:worker_threads'
import { runSqliteWriter } from './db/sqlite/writes.ts'
import { problemCodec } from './http/problems.ts'
import { operations } from './operations.ts'

// Entry of SQLite's writer thread: brings the operations and the loop of db/ together.
if (parentPort === null) throw new Error('writer.ts runs as a worker thread only')
runSqliteWriter(parentPort, workerData.file, operations, problemCodec)
