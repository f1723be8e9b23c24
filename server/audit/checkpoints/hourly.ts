import type { Log } from '../../log.ts'
import { repeat } from '../../upkeep.ts'
import { type CheckpointParts, newestCheckpoint } from './proof.ts'

/** Puts a checkpoint into the service's log at the start and once an hour. Returns the way to stop. */
export function startCheckpoints(log: Log, parts: CheckpointParts): () => void {
  const run = async () => {
    log.info({ event: 'checkpoint', ...(await newestCheckpoint(parts)) }, 'how far the log of events goes')
  }
  const failure = 'no checkpoint of the log of events could be made; trying again in an hour'
  return repeat({ everyMilliseconds: 3_600_000, isDoneAtStart: true, run, failure }, log)
}
