import { DatabaseUnavailable, QueryTooSlow, TooManyWaiting } from './errors.ts'
import { DatabaseThread, type ThreadOptions } from './sqlite-thread.ts'

/** What runs longer in the first lane goes on to the second, where it holds up nothing but its like. */
const quickMilliseconds = 50
/** Requests handed to a thread before it has answered: the next one begins without waiting for this thread. */
const sentAhead = { quick: 3, slow: 1 }
/** A caller's last read begins at worst some seconds after it came in the first lane, and half a minute in the second. */
const waitingLimits = { quick: { all: 512, caller: 128 }, slow: { all: 128, caller: 16 } }

/** A read that waits for its turn. */
interface Queued {
  operation: string
  input: unknown
  limitMilliseconds: number
  resolve(value: unknown): void
  reject(error: unknown): void
}

/**
 * Two threads for reads that may take long, each begun when first needed. Every read has `quickMilliseconds` in the
 * first; one that needs more begins again in the second with its whole limit, so that the expensive lists of one
 * client never stand before the cheap ones of another. In both lanes the callers take turns.
 */
export class ReadLanes {
  readonly #quick: Lane
  readonly #slow: Lane

  constructor(options: Omit<ThreadOptions, 'name' | 'waitingLimit'>) {
    const { quick, slow } = waitingLimits
    const ofQuick = { ...options, name: 'the reader', waitingLimit: quick.all }
    const ofSlow = { ...options, name: 'the reader of long lists', waitingLimit: slow.all }
    this.#quick = new Lane(ofQuick, sentAhead.quick, quick.caller)
    this.#slow = new Lane(ofSlow, sentAhead.slow, slow.caller)
  }

  async run(operation: string, input: unknown, limitMilliseconds: number, caller: string): Promise<unknown> {
    const isQuick = limitMilliseconds <= quickMilliseconds
    const firstLimit = isQuick ? limitMilliseconds : quickMilliseconds
    try {
      return await this.#quick.run(operation, input, firstLimit, caller)
    } catch (error) {
      if (isQuick || !(error instanceof QueryTooSlow)) throw error
      return this.#slow.run(operation, input, limitMilliseconds, caller)
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#quick.close(), this.#slow.close()])
  }
}

class Lane {
  readonly #options: ThreadOptions
  readonly #sentAhead: number
  readonly #waitingLimitOfCaller: number
  #thread: Promise<DatabaseThread> | undefined
  /** Of each caller with something waiting, in the order of their turns. */
  readonly #queues = new Map<string, Queued[]>()
  #waiting = 0
  #running = 0
  #isClosed = false

  constructor(options: ThreadOptions, ahead: number, waitingLimitOfCaller: number) {
    this.#options = options
    this.#sentAhead = ahead
    this.#waitingLimitOfCaller = waitingLimitOfCaller
  }

  run(operation: string, input: unknown, limitMilliseconds: number, caller: string): Promise<unknown> {
    const queue = this.#queues.get(caller) ?? []
    if (this.#isClosed) return Promise.reject(new DatabaseUnavailable('the database has been closed'))
    if (this.#waiting >= this.#options.waitingLimit || queue.length >= this.#waitingLimitOfCaller) {
      return Promise.reject(new TooManyWaiting('too many lists are waiting'))
    }
    return new Promise((resolve, reject) => {
      queue.push({ operation, input, limitMilliseconds, resolve, reject })
      this.#queues.set(caller, queue)
      this.#waiting += 1
      this.#sendNext()
    })
  }

  /** Lets what is under way finish. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const queued of [...this.#queues.values()].flat()) {
      queued.reject(new DatabaseUnavailable('the database has been closed'))
    }
    this.#queues.clear()
    const thread = await this.#thread?.catch(() => undefined)
    await thread?.close()
  }

  #sendNext(): void {
    while (this.#running < this.#sentAhead) {
      const next = this.#takeTurn()
      if (next === undefined) return
      this.#running += 1
      this.#send(next).then(next.resolve, next.reject)
    }
  }

  async #send({ operation, input, limitMilliseconds }: Queued): Promise<unknown> {
    try {
      const thread = await this.#started()
      return await thread.run(operation, input, limitMilliseconds)
    } finally {
      this.#running -= 1
      this.#sendNext()
    }
  }

  /** The next of the caller whose turn it is, who then comes last. */
  #takeTurn(): Queued | undefined {
    for (const [caller, queue] of this.#queues) {
      this.#queues.delete(caller)
      const next = queue.shift()
      if (queue.length > 0) this.#queues.set(caller, queue)
      if (next === undefined) continue
      this.#waiting -= 1
      return next
    }
    return undefined
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
