import { parentPort, workerData } from 'node:worker_threads'
import { runSqliteWriter } from '../../server/db/sqlite/writes.ts'
import { problemCodec } from '../../server/problems/problems.ts'
import { testOperations } from './test-operations.ts'

// Entry of a writer thread with the operations of the tests.
if (parentPort === null) throw new Error('test-writer.ts runs as a worker thread only')
runSqliteWriter(parentPort, workerData.file, testOperations, problemCodec)
