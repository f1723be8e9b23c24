import { DatabaseUnavailable, TooManyWaiting } from '../../../db/errors.ts'

/** Work of the same key is done one after the other, in the order in which it came. */
export class OneAtATime {
  readonly #waitingLimit: number
  readonly #turns = new Map<string, { waiting: number; last: Promise<unknown> }>()

  /** `waitingLimit`: of one key, with the one that is being done. */
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
      // When the database is gone, those that wait need not each find out anew.
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
