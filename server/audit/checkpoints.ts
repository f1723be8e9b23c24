import type { AppDatabase } from '../db/port.ts'
import type { Log } from '../log.ts'
import { repeat } from '../upkeep.ts'
import { type LogKeys, originOf, signCheckpoint } from './checkpoint.ts'
import { headOfLog } from './store.ts'

export interface CheckpointParts {
  db: AppDatabase
  log: Log
  keys: LogKeys
  publicUrl: string
}

/** Puts a checkpoint into the service's log at the start and once an hour. Returns the way to stop. */
export function startCheckpoints({ db, log, keys, publicUrl }: CheckpointParts): () => void {
  const run = async () => {
    const head = await headOfLog(db.read)
    const checkpoint = await signCheckpoint(keys, originOf(publicUrl, head.era), head)
    log.info({ event: 'checkpoint', ...head, checkpoint }, 'how far the log of events goes')
    return false
  }
  const failure = 'no checkpoint of the log of events could be made; trying again in an hour'
  return repeat(
    { everyMilliseconds: 3_600_000, isDoneAtStart: true, pauseMilliseconds: 0, run, failure },
    log,
  )
}
