import { parentPort, workerData } from 'node:worker_threads'
import { runSqliteReader } from '../../server/db/sqlite/reads.ts'
import { problemCodec } from '../../server/problems/problems.ts'
import { testReads } from './test-reads.ts'

// Entry of a reader thread with the reads of the tests.
if (parentPort === null) throw new Error('test-reader.ts runs as a worker thread only')
runSqliteReader(parentPort, workerData.file, testReads, problemCodec)
