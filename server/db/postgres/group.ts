import { isConnectionLoss, TooManyWaiting } from '../errors.ts'
import { connectTimeoutMilliseconds } from './connections.ts'

/**
 * How many groups may run at once: while one waits for a lock, the next works. With only one, 32 callers next
 * to a locked key took 2.3 times as long (p99).
 */
const lanes = 2
/**
 * Members of a group. If the group fails, they run alone, all on the same few connections. With 256 callers
 * next to a locked key, p99 was 0.3 s with this limit, and up to 1.7 s without it. (Without it, creates of
 * 256 callers take 0.65 of the processor time.)
 */
const sizeLimit = 64
/** If the connection is lost, a member that has already waited this long does not get a second try. */
export const patienceMilliseconds = 1_000

interface Member {
  input: unknown
  waitingSince: number
  resolve(output: unknown): void
  reject(error: unknown): void
}

export interface GroupRuns {
  /** Runs all inputs in one transaction, or none. Undefined for an input it did nothing for. */
  together(inputs: unknown[]): Promise<unknown[]>
  alone(input: unknown): Promise<unknown>
}

/**
 * Puts writes of one kind that wait at the same time into one transaction, so that they share the cost of a
 * statement, a commit and its wait for the disk. A member that the group could not do runs alone, as do all
 * members of a failed group, so that none fails because of another. If the connection is lost, all of them
 * fail, because their outcome may be unknown.
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

  /**
   * Starts at the end of this turn of the event loop, so that requests which arrive in this turn are
   * included.
   */
  #startSoon(): void {
    if (this.#isStarting || this.#running >= lanes || this.#waiting.length === 0) return
    this.#isStarting = true
    setImmediate(() => {
      this.#isStarting = false
      void this.#run(this.#takeNext())
      this.#startSoon()
    })
  }

  /**
   * Refuses members that have waited longer than callers wait for a connection, and takes the next ones.
   */
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
