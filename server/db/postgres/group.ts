import { isConnectionLoss, TooManyWaiting } from '../errors.ts'
import { connectTimeoutMilliseconds } from './connections.ts'

/**
 * Groups under way at once: while one waits for a lock, the next is at work. With one alone, 32 callers beside a key that
 * is held took 2.3 times as long (p99).
 */
const lanes = 2
/**
 * Of one group: what fails together runs alone, all on the same few connections. Of 256 callers beside a key that is held,
 * p99 was 0.3 s, and without a limit once 1.7. (Without, a create of so many costs 0.65 of the processor time.)
 */
const sizeLimit = 64
/** Who has waited so long when the server is lost has waited enough, and is not asked to wait for a second try. */
export const patienceMilliseconds = 1_000

interface Member {
  input: unknown
  waitingSince: number
  resolve(output: unknown): void
  reject(error: unknown): void
}

export interface GroupRuns {
  /** All inputs in one transaction, or nothing. Undefined for an input for which nothing was done. */
  together(inputs: unknown[]): Promise<unknown[]>
  alone(input: unknown): Promise<unknown>
}

/**
 * Writes of one kind that wait at the same time are one transaction: what a statement, a commit and its wait for the
 * disk cost is shared by all. One that its group could not do, and all of a group that failed, run alone, so that none
 * fails for another. A connection that was lost with the group is passed on: what became of it may be unknown.
 */
export class WriteGroup {
  readonly #runs: GroupRuns
  #waiting: Member[] = []
  #running = 0
  #isStarting = false

  constructor(runs: GroupRuns) {
    this.#runs = runs
  }

  write(input: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, waitingSince: performance.now(), resolve, reject })
      this.#startSoon()
    })
  }

  /** At the end of this turn of the event loop: the requests that it still brings come along. */
  #startSoon(): void {
    if (this.#isStarting || this.#running >= lanes || this.#waiting.length === 0) return
    this.#isStarting = true
    setImmediate(() => {
      this.#isStarting = false
      void this.#run(this.#takeNext())
      this.#startSoon()
    })
  }

  /** Who has waited for as long as others wait for a connection is refused, so that nobody waits behind them. */
  #takeNext(): Member[] {
    const isLate = ({ waitingSince }: Member) => performance.now() - waitingSince > connectTimeoutMilliseconds
    while (this.#waiting[0] !== undefined && isLate(this.#waiting[0])) {
      this.#waiting.shift()?.reject(new TooManyWaiting('the write waited too long for its group'))
    }
    return this.#waiting.splice(0, sizeLimit)
  }

  async #run(members: Member[]): Promise<void> {
    if (members.length === 0) return
    this.#running += 1
    const outputs = await this.#runTogether(members)
    this.#running -= 1
    outputs?.forEach((output, index) => {
      const member = members[index]
      if (output === undefined) this.#runAlone(member)
      else member?.resolve(output)
    })
    this.#startSoon()
  }

  async #runTogether(members: Member[]): Promise<unknown[] | undefined> {
    try {
      return await this.#runs.together(members.map(({ input }) => input))
    } catch (error) {
      if (!isConnectionLoss(error)) return members.map(() => undefined)
      const tired = (member: Member) => performance.now() - member.waitingSince > patienceMilliseconds
      for (const member of [...members, ...this.#waiting.filter(tired)]) member.reject(error)
      this.#waiting = this.#waiting.filter((member) => !tired(member))
      return undefined
    }
  }

  #runAlone(member: Member | undefined): void {
    if (member !== undefined) this.#runs.alone(member.input).then(member.resolve, member.reject)
  }
}
