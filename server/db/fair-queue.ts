import { DatabaseUnavailable, TooManyWaiting } from './errors.ts'

export interface TurnLimits {
  /** Pieces of work that run at the same time. */
  atOnce: number
  /** The same for one caller, if lower. */
  atOnceOfCaller?: number
  /** Pieces that may wait; one more is refused at once. */
  waiting: number
  /** The same for one caller, if lower. */
  waitingOfCaller?: number
  /** How long a piece may wait before it is refused. Without a value, it waits forever. */
  patienceMilliseconds?: number
}

interface Queued {
  work(): Promise<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
  patience?: NodeJS.Timeout
}

/** Runs a limited number of pieces of work at a time. Callers take turns. */
export class Turns {
  readonly #limits: TurnLimits
  /** For each caller with work waiting, in the order of their turns. */
  readonly #queues = new Map<string, Queued[]>()
  readonly #runningOf = new Map<string, number>()
  #waiting = 0
  #running = 0
  #isClosed = false

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /**
   * Settles as `work` does. Rejects with `TooManyWaiting` if the work never began, or with
   * `DatabaseUnavailable` once closed.
   */
  run<Output>(caller: string, work: () => Promise<Output>): Promise<Output> {
    const queue = this.#queues.get(caller) ?? []
    const { waiting, waitingOfCaller = waiting, patienceMilliseconds } = this.#limits
    if (this.#isClosed) return Promise.reject(closed())
    if (this.#waiting >= waiting || queue.length >= waitingOfCaller) return Promise.reject(tooMany())
    return new Promise((resolve, reject) => {
      const queued: Queued = { work, resolve: resolve as Queued['resolve'], reject }
      queue.push(queued)
      this.#queues.set(caller, queue)
      this.#waiting += 1
      this.#beginNext()
      if (patienceMilliseconds === undefined || queue.at(-1) !== queued) return
      queued.patience = setTimeout(() => this.#giveUp(caller, queued), patienceMilliseconds)
    })
  }

  get load(): { running: number; waiting: number } {
    return { running: this.#running, waiting: this.#waiting }
  }

  /** Refuses the work that waits. Work that has begun continues. */
  close(): void {
    this.#isClosed = true
    for (const { reject, patience } of [...this.#queues.values()].flat()) {
      clearTimeout(patience)
      reject(closed())
    }
    this.#queues.clear()
    this.#waiting = 0
  }

  #beginNext(): void {
    while (this.#running < this.#limits.atOnce) {
      const turn = this.#takeTurn()
      if (turn === undefined) return
      const { caller, next } = turn
      clearTimeout(next.patience)
      this.#count(caller, 1)
      this.#begin(caller, next).then(next.resolve, next.reject)
    }
  }

  async #begin(caller: string, { work }: Queued): Promise<unknown> {
    try {
      return await work()
    } finally {
      this.#count(caller, -1)
      this.#beginNext()
    }
  }

  /** Takes the next piece of the caller whose turn it is, and puts that caller last. */
  #takeTurn(): { caller: string; next: Queued } | undefined {
    const { atOnceOfCaller = Number.POSITIVE_INFINITY } = this.#limits
    for (const [caller, queue] of this.#queues) {
      if ((this.#runningOf.get(caller) ?? 0) >= atOnceOfCaller) continue
      const next = queue.shift()
      this.#queues.delete(caller)
      if (queue.length > 0) this.#queues.set(caller, queue)
      if (next === undefined) continue
      this.#waiting -= 1
      return { caller, next }
    }
    return undefined
  }

  #giveUp(caller: string, queued: Queued): void {
    const queue = this.#queues.get(caller) ?? []
    const index = queue.indexOf(queued)
    if (index < 0) return
    queue.splice(index, 1)
    if (queue.length === 0) this.#queues.delete(caller)
    this.#waiting -= 1
    queued.reject(tooMany())
  }

  #count(caller: string, change: 1 | -1): void {
    const running = (this.#runningOf.get(caller) ?? 0) + change
    if (running === 0) this.#runningOf.delete(caller)
    else this.#runningOf.set(caller, running)
    this.#running += change
  }
}

/** Turns of which long work gets half: other work then finds one that is free or soon will be. */
export class HalvedTurns {
  readonly #all: Turns
  readonly #long: Turns

  constructor(limits: TurnLimits) {
    this.#all = new Turns(limits)
    this.#long = new Turns({ ...limits, atOnce: Math.max(1, Math.floor(limits.atOnce / 2)) })
  }

  run<Output>(caller: string, isLong: boolean, work: () => Promise<Output>): Promise<Output> {
    const run = () => this.#all.run(caller, work)
    return isLong ? this.#long.run(caller, run) : run()
  }

  get load(): { running: number; waiting: number } {
    const { running, waiting } = this.#all.load
    return { running, waiting: waiting + this.#long.load.waiting }
  }

  close(): void {
    this.#long.close()
    this.#all.close()
  }
}

function closed(): DatabaseUnavailable {
  return new DatabaseUnavailable('the database has been closed')
}

function tooMany(): TooManyWaiting {
  return new TooManyWaiting('too many wait for their turn')
}
