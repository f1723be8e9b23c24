import { parentPort, workerData } from 'node:worker_threads'
import { runSqliteReader } from './db/sqlite/reads.ts'
import { reads } from './operations.ts'
import { problemCodec } from './problems/problems.ts'

// Entry of SQLite's reader threads: brings the reads and the loop of db/ together.
if (parentPort === null) throw new Error('reader.ts runs as a worker thread only')
runSqliteReader(parentPort, workerData.file, reads, problemCodec)
