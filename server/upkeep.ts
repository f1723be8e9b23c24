import { setTimeout as wait } from 'node:timers/promises'
import { sql } from '#kysely'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import { isRefusedChange } from './db/errors.ts'
import { holdLease } from './db/lease.ts'
import type { AppDatabase } from './db/port.ts'
import type { Database, Trx } from './db/tables.ts'
import type { Log } from './log.ts'

/** The service's log. */
type Lines = Pick<Log, 'info' | 'warn'>

interface Batch {
  /** A removal deletes rows up to this instant. */
  beforeMilliseconds: number
  /** The most rows to handle. */
  limit: number
}

/** Work that the clock begins, in batches of one write each. `operations.ts` of each slice lists its jobs. */
export interface Job {
  name: string
  everyMilliseconds: number
  /** Rows in a batch. Few, because other writes wait for it. */
  batch: number
  /** Between batches. */
  pauseMilliseconds: number
  /** Whether a lease keeps the job to one instance at a time. */
  isAlone?: boolean
  isNeeded?(db: AppDatabase): boolean
  /** How far `beforeMilliseconds` lies in the past; 0 by default. */
  keptMilliseconds?: ((config: Config) => number) | undefined
  /** Returns how many rows were handled. Fewer than the limit means that nothing is left. */
  run(trx: Trx, batch: Batch): Promise<number>
  /** The line in the service's log when the job fails. */
  failure: string
}

interface Removal<Table extends keyof Database> {
  name: string
  table: Table
  key: readonly (keyof Database[Table] & string)[]
  /** The column with the instant from which a row is kept for `keptMilliseconds`. */
  since: keyof Database[Table] & string
  keptMilliseconds?: Job['keptMilliseconds']
  batch: number
}

/**
 * A job that deletes rows nothing can use any more. On SQLite a batch takes the writer at most 2 ms, and its
 * fsync (docs/performance.md).
 */
export function removal<Table extends keyof Database>(removed: Removal<Table>): Job {
  const { name, table, key, since, keptMilliseconds, batch } = removed
  const keys = sql.join(key.map((column) => sql.ref(column)))
  return {
    name,
    everyMilliseconds: 60_000,
    batch,
    pauseMilliseconds: 20,
    isAlone: true,
    keptMilliseconds,
    async run(trx, { beforeMilliseconds, limit }) {
      const { numAffectedRows } = await sql`delete from ${sql.table(table)} where (${keys}) in
        (select ${keys} from ${sql.table(table)} where ${sql.ref(since)} <= ${beforeMilliseconds} limit ${limit})
      `.execute(trx)
      return Number(numAffectedRows)
    },
    failure: `${name} failed; trying again in a minute`,
  }
}

interface NamedBatch extends Batch {
  name: string
  /** The term of the lease that the previous batch returned; null before the first batch. */
  term: number | null
}

/** The write operation that runs one batch of one job, unless another instance does that job. */
export function jobRunner(jobs: readonly Job[]) {
  const byName = new Map(jobs.map((job) => [job.name, job]))
  return async (trx: Trx, { name, term, ...batch }: NamedBatch) => {
    const job = byName.get(name)
    if (job === undefined) throw new Error(`no job ${name}`)
    if (!job.isAlone) return { done: await job.run(trx, batch), term }
    const held = await holdLease(trx, { name, term })
    return { done: held === null ? 0 : await job.run(trx, batch), term: held }
  }
}

export interface UpkeepParts {
  db: AppDatabase
  jobs: readonly Job[]
  clock: Clock
  config: Config
  log: Lines
}

/** Runs the jobs while the service does. Returns functions that stop them. */
export function startUpkeep({ db, jobs, clock, config, log }: UpkeepParts): (() => void)[] {
  return jobs
    .filter((job) => job.isNeeded?.(db) ?? true)
    .map((job) => {
      const { name, batch: limit } = job
      let term: number | null = null
      const run = async () => {
        const beforeMilliseconds = clock() - (job.keptMilliseconds?.(config) ?? 0)
        const result = await db.write('runJob', { name, term, beforeMilliseconds, limit })
        term = result.term
        return result.done >= limit
      }
      return repeat({ ...job, run }, log)
    })
}

interface Task {
  everyMilliseconds: number
  isDoneAtStart?: boolean
  /** Runs again after the pause if it resolves to true. */
  run(): Promise<unknown>
  pauseMilliseconds?: number
  failure: string
}

/** Never runs a task twice at the same time. Returns the way to stop, which resolves once it has ended. */
export function repeat(task: Task, log: Lines): () => Promise<void> {
  const report = new FailureReport(log, { fails: task.failure, works: 'it works again' })
  let running: Promise<void> | undefined
  let isStopped = false
  const work = async () => {
    try {
      while (!isStopped && (await task.run()) === true) {
        if (task.pauseMilliseconds) await wait(task.pauseMilliseconds, undefined, { ref: false })
      }
      report.note(undefined, { failed: task.failure })
    } catch (err) {
      if (!isStopped && !isRefusedChange(err)) report.note('failed', { err })
    }
  }
  const begin = () => {
    running ??= work().finally(() => {
      running = undefined
    })
  }
  if (task.isDoneAtStart) begin()
  const timer = setInterval(begin, task.everyMilliseconds)
  timer.unref()
  return async () => {
    isStopped = true
    clearInterval(timer)
    await running
  }
}

/**
 * Keeps the log short while something goes on failing: one line when it fails, one when it fails in another
 * way, and one when it works again.
 */
export class FailureReport {
  readonly #log: Lines
  readonly #words: { fails: string; works: string }
  readonly #failures = new Map<string, string>()

  constructor(log: Lines, words: { fails: string; works: string }) {
    this.#log = log
    this.#words = words
  }

  /** `failure` is undefined if it works. `of` tells apart several that may fail. */
  note(failure: string | undefined, members: object, of = ''): void {
    if (failure === this.#failures.get(of)) return
    if (failure === undefined) {
      this.#failures.delete(of)
      this.#log.info(members, this.#words.works)
    } else {
      this.#failures.set(of, failure)
      this.#log.warn(members, this.#words.fails)
    }
  }
}
