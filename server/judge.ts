import { parentPort, workerData } from 'node:worker_threads'
import { newPasswordFault } from '../rules/new-password.ts'

// Entry of the thread that judges one new password (rules/new-password.ts).
if (parentPort === null) throw new Error('judge.ts runs as a worker thread only')
parentPort.postMessage(await newPasswordFault(workerData.password, workerData.names))
