import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { AppDatabase } from './operations.ts'

const removals = [
  'removeEndedSessions',
  'removeEndedFamilies',
  'removeForgottenTries',
  'removeExpiredKeys',
] as const

/**
 * Has every slice delete what nothing can use any more, at most `limit` rows of each kind. Returns the greatest number
 * of rows that one kind lost.
 */
export async function removeExpired(
  db: AppDatabase,
  input: { nowMilliseconds: number; sessionIdleTtlMilliseconds: number; limit: number },
): Promise<number> {
  let greatest = 0
  for (const removal of removals) greatest = Math.max(greatest, await db.write(removal, input))
  return greatest
}

interface Job {
  everyMilliseconds: number
  /** Small, so that no write waits long for a batch. */
  batchRows: number
  /** Returns how many rows were done; fewer than `batchRows` means that nothing is left. */
  run(limit: number): Promise<number>
  /** The line of the log when it fails. */
  failure: string
}

/**
 * What is done by the clock while the service runs: expired rows are removed once a minute and, on PostgreSQL, changes
 * are merged into the tally of orders every two seconds. Returns the way to stop.
 */
export function startUpkeep(
  db: AppDatabase,
  clock: Clock,
  config: Config,
  log: FastifyBaseLogger,
): () => void {
  const sessionIdleTtlMilliseconds = config.sessionIdleTtlSeconds * 1000
  const cleaning: Job = {
    everyMilliseconds: 60_000,
    batchRows: 500,
    run: (limit) => removeExpired(db, { nowMilliseconds: clock(), sessionIdleTtlMilliseconds, limit }),
    failure: 'expired rows could not be removed; trying again in a minute',
  }
  // Every list adds up the changes not merged yet: at 2,000 writes a second some 4,000 rows, about a millisecond.
  const merging: Job = {
    everyMilliseconds: 2_000,
    batchRows: 2_000,
    run: (limit) => db.write('mergeTallyChanges', { limit }),
    failure: 'the tally of orders could not be brought up to date; trying again every two seconds',
  }
  const stops = (db.defersTally ? [cleaning, merging] : [cleaning]).map((job) => startJob(job, log))
  return () => {
    for (const stop of stops) stop()
  }
}

const batchesAtOnce = 100

/** Never runs twice at the same time. Of failures in a row only the first is logged. */
function startJob({ everyMilliseconds, batchRows, run, failure }: Job, log: FastifyBaseLogger): () => void {
  let isRunning = false
  let hasFailed = false
  let isStopped = false
  const timer = setInterval(async () => {
    if (isRunning) return
    isRunning = true
    try {
      for (let batch = 0; batch < batchesAtOnce && !isStopped; batch += 1) {
        if ((await run(batchRows)) < batchRows) break
      }
      hasFailed = false
    } catch (err) {
      if (!hasFailed && !isStopped) log.warn({ err }, failure)
      hasFailed = true
    } finally {
      isRunning = false
    }
  }, everyMilliseconds)
  timer.unref()
  return () => {
    isStopped = true
    clearInterval(timer)
  }
}
