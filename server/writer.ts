import { parentPort, workerData } from 'node:worker_threads'
import { runSqliteWriter } from './db/sqlite/writes.ts'
import { operations } from './operations.ts'
import { problemCodec } from './problems/problems.ts'

// Entry of SQLite's writer thread: brings the operations and the loop of db/ together.
if (parentPort === null) throw new Error('writer.ts runs as a worker thread only')
runSqliteWriter(parentPort, workerData.file, operations, problemCodec)
