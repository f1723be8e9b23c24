import { type Clock, formatInstant } from '../../clock.ts'
import type { AppDatabase } from '../../db/port.ts'
import type { Log } from '../../log.ts'
import { repeat } from '../../upkeep.ts'
import { type LogKeys, originOf, signCheckpoint } from '../checkpoint.ts'
import { contradictionOf } from '../contradiction.ts'
import { reasonOf } from '../post.ts'
import { headOfLog } from '../store.ts'
import { ask } from './ask.ts'
import { isClosed, unstampedDay } from './store.ts'

export interface TimestampingParts {
  db: AppDatabase
  keys: LogKeys
  publicUrl: () => string
  /** Where the authority answers. */
  url: string
  clock: Clock
  log: Pick<Log, 'info' | 'warn'>
  timeLimitMilliseconds?: number
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const dayMilliseconds = 24 * hour
const lookIntervalMilliseconds = 15 * second
const defaultTimeLimitMilliseconds = 10 * second

/** Has the last checkpoint of each day stamped. Returns the way to stop. */
export function startTimestamping(parts: TimestampingParts): () => void {
  const stopping = new AbortController()
  const timestamping = new Timestamping({ ...parts, signal: stopping.signal })
  const task = {
    everyMilliseconds: lookIntervalMilliseconds,
    isDoneAtStart: true,
    pauseMilliseconds: 0,
    run: () => timestamping.look(),
    failure: 'the checkpoint of the day could not be stamped; trying again every 15 seconds',
  }
  const stop = repeat(task, parts.log)
  return () => {
    stop()
    stopping.abort()
  }
}

/** What one instance remembers between looks. */
export class Timestamping {
  readonly #parts: TimestampingParts & { signal: AbortSignal }
  /** Why the last try failed, and how many did in a row. */
  #failure: string | undefined
  #failures = 0
  #pausedUntil = Number.NEGATIVE_INFINITY

  constructor(parts: TimestampingParts & { signal: AbortSignal }) {
    this.#parts = parts
  }

  /** Has one day stamped if one waits. Returns false: there is nothing to do at once. */
  async look(): Promise<boolean> {
    const { db, clock, signal } = this.#parts
    await this.#closeYesterday()
    const waiting = await unstampedDay(db.read)
    if (waiting === undefined) {
      this.#reportSuccess()
      return false
    }
    if (clock() < this.#pausedUntil || !(await db.write('beginRound', { of: 'timestamps' }))) return false
    const { day, era, checkpoint } = waiting
    const answer = await this.#ask(checkpoint)
    // The service stopped, so the authority is not to blame.
    if (signal.aborted) return false
    if ('failure' in answer) {
      this.#reportFailure(day, answer.failure)
      return false
    }
    await db.write('keepTimestamp', { day, era, ...answer, nowMilliseconds: clock() })
    this.#reportSuccess()
    return false
  }

  async #ask(checkpoint: string): Promise<{ answer: string } | { failure: string }> {
    const { url, signal, timeLimitMilliseconds = defaultTimeLimitMilliseconds } = this.#parts
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeLimitMilliseconds)])
    try {
      return { answer: await ask(url, checkpoint, limit) }
    } catch (error) {
      return { failure: reasonOf(error) }
    }
  }

  /** Leaves the last events of the day a minute to be sealed. A stopped log closes no day. */
  async #closeYesterday(): Promise<void> {
    const { db, keys, publicUrl, clock } = this.#parts
    const day = formatInstant(clock() - minute - dayMilliseconds).slice(0, 10)
    const { era, ...head } = await headOfLog(db.read)
    if (head.size === 0 || (await isClosed(db.read, { day, era }))) return
    if ((await contradictionOf(db.read)) !== undefined) return
    const checkpoint = await signCheckpoint(keys, originOf(publicUrl(), era), head)
    await db.write('closeDay', { day, era, checkpoint })
  }

  /** Pauses for 1, 2, 4 minutes and so on, up to an hour. One line when it fails, or fails in another way. */
  #reportFailure(day: string, failure: string): void {
    const { clock, log } = this.#parts
    this.#pausedUntil = clock() + Math.min(minute * 2 ** this.#failures, hour)
    this.#failures += 1
    if (failure === this.#failure) return
    this.#failure = failure
    log.warn({ event: 'timestamp', day, failure }, 'the checkpoint of a day was not stamped')
  }

  /** Also if it was another instance that succeeded. */
  #reportSuccess(): void {
    if (this.#failures > 0) this.#parts.log.info({ event: 'timestamp' }, 'checkpoints are stamped again')
    this.#failures = 0
    this.#failure = undefined
  }
}
