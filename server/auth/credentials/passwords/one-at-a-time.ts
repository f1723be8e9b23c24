import { DatabaseUnavailable, TooManyWaiting } from '../../../db/errors.ts'

/** Runs work with the same key one after the other, in order of arrival. */
export class OneAtATime {
  readonly #waitingLimit: number
  readonly #turns = new Map<string, { waiting: number; last: Promise<unknown> }>()

  /** `waitingLimit` applies to each key and includes the work that is running. */
  constructor(waitingLimit: number) {
    this.#waitingLimit = waitingLimit
  }

  /** Throws `TooManyWaiting`. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = this.#turns.get(key) ?? { waiting: 0, last: Promise.resolve() }
    if (turn.waiting >= this.#waitingLimit) throw new TooManyWaiting('too many wait for their turn')
    turn.waiting += 1
    this.#turns.set(key, turn)
    const mine = turn.last.then(work)
    turn.last = mine.catch((error: unknown) => {
      // If the database is unavailable, those that wait need not each find that out again.
      if (error instanceof DatabaseUnavailable) throw error
    })
    turn.last.catch(() => undefined)
    try {
      return await mine
    } finally {
      turn.waiting -= 1
      if (turn.waiting === 0) this.#turns.delete(key)
    }
  }
}
