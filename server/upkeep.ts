import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { Head } from './audit/chain.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { AppDatabase } from './db/port.ts'

/**
 * What deletes rows that nothing can use any more, and how many rows make a portion. Other writes wait for a portion:
 * on SQLite it takes at most 2 ms of the writer, and its fsync (docs/performance.md).
 */
export const removals = {
  /** Each with up to eight ids. */
  removeEndedSessions: 3,
  removeEndedFamilies: 30,
  removeForgottenTries: 50,
  removeForgottenAddresses: 50,
  removeExpiredLinks: 50,
  removeExpiredKeys: 100,
} as const
const betweenRemovalsMilliseconds = 20
/** Events of one sealing: 2 ms of the writer. */
export const sealedAtOnce = 100
/** So that a portion shares its commit with creates: a create then costs 216 µs of processor time instead of 256. */
const betweenSealingsMilliseconds = 10

interface Job {
  everyMilliseconds: number
  isDoneAtStart?: boolean
  /** Small, so that no write waits long for a portion. */
  portion: number
  /** Between portions. */
  pauseMilliseconds: number
  /** Returns how many rows were done; fewer than the portion means that nothing is left. */
  run(limit: number): Promise<number>
  /** The line of the log when it fails. */
  failure: string
}

export interface UpkeepParts {
  db: AppDatabase
  clock: Clock
  config: Config
  log: FastifyBaseLogger
  makeCheckpoint(): Promise<Head & { checkpoint: string }>
}

/**
 * What is done by the clock while the service runs: expired rows are removed once a minute, events are sealed every half
 * second and, on PostgreSQL, changes are merged into the tally of orders every two seconds. At the start and once an
 * hour the service's log gets a checkpoint. Returns the way to stop.
 */
export function startUpkeep({ db, clock, config, log, makeCheckpoint }: UpkeepParts): () => void {
  const sessionIdleTtlMilliseconds = config.sessionIdleTtlSeconds * 1000
  const cleaning = Object.entries(removals).map(
    ([name, portion]): Job => ({
      everyMilliseconds: 60_000,
      portion,
      pauseMilliseconds: betweenRemovalsMilliseconds,
      run: (limit) =>
        db.write(name as keyof typeof removals, {
          nowMilliseconds: clock(),
          sessionIdleTtlMilliseconds,
          limit,
        }),
      failure: `${name} failed; trying again in a minute`,
    }),
  )
  // Every list adds up the changes not merged yet: at 2,000 writes a second some 4,000 rows, about a millisecond.
  const merging: Job = {
    everyMilliseconds: 2_000,
    portion: 2_000,
    pauseMilliseconds: 0,
    run: (limit) => db.write('mergeTallyChanges', { limit }),
    failure: 'the tally of orders could not be brought up to date; trying again every two seconds',
  }
  // Two seconds are what the contract allows. Portions follow each other until nothing is left, which keeps up with
  // creates at full rate: half a second late on SQLite, 0.7 s on PostgreSQL (docs/performance.md).
  const sealing: Job = {
    everyMilliseconds: 500,
    portion: sealedAtOnce,
    pauseMilliseconds: betweenSealingsMilliseconds,
    run: (limit) => db.write('sealEvents', { limit }),
    failure: 'the log of events could not be sealed; trying again every half second',
  }
  const stating: Job = {
    everyMilliseconds: 3_600_000,
    isDoneAtStart: true,
    portion: 1,
    pauseMilliseconds: 0,
    async run() {
      log.info({ event: 'checkpoint', ...(await makeCheckpoint()) }, 'how far the log of events goes')
      return 0
    },
    failure: 'no checkpoint of the log of events could be made; trying again in an hour',
  }
  const jobs = [...cleaning, sealing, stating, ...(db.defersTally ? [merging] : [])]
  const stops = jobs.map((job) => startJob(job, log))
  return () => {
    for (const stop of stops) stop()
  }
}

/** Never runs twice at the same time. Of failures in a row only the first is logged. */
function startJob(job: Job, log: FastifyBaseLogger): () => void {
  let isRunning = false
  let hasFailed = false
  let isStopped = false
  const work = async () => {
    if (isRunning) return
    isRunning = true
    try {
      while (!isStopped && (await job.run(job.portion)) >= job.portion) {
        if (job.pauseMilliseconds > 0) await wait(job.pauseMilliseconds, undefined, { ref: false })
      }
      hasFailed = false
    } catch (err) {
      if (!hasFailed && !isStopped) log.warn({ err }, job.failure)
      hasFailed = true
    } finally {
      isRunning = false
    }
  }
  if (job.isDoneAtStart) void work()
  const timer = setInterval(work, job.everyMilliseconds)
  timer.unref()
  return () => {
    isStopped = true
    clearInterval(timer)
  }
}
