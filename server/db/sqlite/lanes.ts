import { DatabaseUnavailable, QueryTooSlow } from '../errors.ts'
import { Turns } from '../fair-queue.ts'
import { DatabaseThread, type ThreadOptions } from './thread.ts'

/** Milliseconds in the first lane. What runs longer goes on to the second, where it holds up nothing but its like. */
export interface FirstLaneLimits {
  usual: number
  /** Of a caller with something in the second lane: what else he asks then is likely to be of the same kind. */
  besideLong: number
}

const firstLaneLimits: FirstLaneLimits = { usual: 25, besideLong: 5 }
/**
 * Requests handed to a thread before it has answered: the next one begins without waiting for this thread. Of one caller
 * only one, so that nobody else waits for more than that.
 */
const sentAhead = { quick: 3, slow: 1 }
/** A caller's last read begins at worst some seconds after it came in the first lane, and half a minute in the second. */
const waitingLimits = { quick: { all: 512, caller: 128 }, slow: { all: 128, caller: 16 } }

/**
 * Two threads for reads that may take long, each begun when first needed. Every read has some milliseconds in the
 * first; one that needs more begins again in the second with its whole limit, so that the expensive lists of one
 * client never stand before the cheap ones of another. In both lanes the callers take turns.
 */
export class ReadLanes {
  readonly #quick: Lane
  readonly #slow: Lane
  readonly #limits: FirstLaneLimits
  /** How many reads of each caller are in the second lane. */
  readonly #long = new Map<string, number>()

  constructor(options: Omit<ThreadOptions, 'name' | 'waitingLimit'>, limits = firstLaneLimits) {
    const { quick, slow } = waitingLimits
    const ofQuick = { ...options, name: 'the reader', waitingLimit: quick.all }
    const ofSlow = { ...options, name: 'the reader of long lists', waitingLimit: slow.all }
    this.#limits = limits
    this.#quick = new Lane(ofQuick, sentAhead.quick, quick.caller, (caller) =>
      this.#long.has(caller) ? limits.besideLong : limits.usual,
    )
    this.#slow = new Lane(ofSlow, sentAhead.slow, slow.caller)
  }

  async run(operation: string, input: unknown, limitMilliseconds: number, caller: string): Promise<unknown> {
    try {
      return await this.#quick.run(operation, input, limitMilliseconds, caller)
    } catch (error) {
      if (!(error instanceof QueryTooSlow) || limitMilliseconds <= this.#limits.besideLong) throw error
    }
    this.#long.set(caller, (this.#long.get(caller) ?? 0) + 1)
    try {
      return await this.#slow.run(operation, input, limitMilliseconds, caller)
    } finally {
      const left = (this.#long.get(caller) ?? 0) - 1
      if (left > 0) this.#long.set(caller, left)
      else this.#long.delete(caller)
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#quick.close(), this.#slow.close()])
  }
}

class Lane {
  readonly #options: ThreadOptions
  readonly #turns: Turns
  readonly #timeOf: (caller: string) => number
  #thread: Promise<DatabaseThread> | undefined

  /** `timeOf`: milliseconds that a read of a caller may take here, if that is less than its own limit. */
  constructor(
    options: ThreadOptions,
    atOnce: number,
    waitingOfCaller: number,
    timeOf: (caller: string) => number = () => Number.POSITIVE_INFINITY,
  ) {
    this.#options = options
    this.#timeOf = timeOf
    this.#turns = new Turns({ atOnce, atOnceOfCaller: 1, waiting: options.waitingLimit, waitingOfCaller })
  }

  run(operation: string, input: unknown, limitMilliseconds: number, caller: string): Promise<unknown> {
    return this.#turns.run(caller, async () => {
      const thread = await this.#started()
      return thread.run(operation, input, Math.min(limitMilliseconds, this.#timeOf(caller)))
    })
  }

  /** Lets what is under way finish. */
  async close(): Promise<void> {
    this.#turns.close()
    const thread = await this.#thread?.catch(() => undefined)
    await thread?.close()
  }

  /** A start that failed is tried again by the next read. */
  #started(): Promise<DatabaseThread> {
    this.#thread ??= this.#start()
    return this.#thread
  }

  async #start(): Promise<DatabaseThread> {
    const thread = new DatabaseThread(this.#options)
    try {
      await thread.start()
      return thread
    } catch (error) {
      this.#thread = undefined
      throw new DatabaseUnavailable(`${this.#options.name} could not be started`, { cause: error })
    }
  }
}
