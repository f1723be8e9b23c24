import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DatabaseUnavailable } from '../../server/db/errors.ts'
import type { Step, Stop } from './steps.ts'

/** An instance from its start until it stops or dies. Then its ports refuse every call. */
export class Life {
  isOver = false
  /** Terms of its jobs, by name. */
  readonly terms = new Map<string, number | null>()
  readonly tasks = new Set<Task>()

  end(): void {
    this.isOver = true
    for (const task of this.tasks) task.resume()
  }
}

const requests = ['create', 'approve', 'reject', 'withdraw', 'note', 'repeat']
const current = new AsyncLocalStorage<Task | undefined>()

interface Disturbable {
  commitFails(work: () => Promise<unknown>): Promise<unknown>
  /** Resolves when every read that was begun has its result. */
  isIdle(): Promise<void>
}

/** The work of an instance in a step. It calls one port after the other, so each step repeats exactly. */
export class Task {
  readonly life: Life
  readonly name: string
  /** When it began, by the clock of its instance. */
  readonly at: number
  /** Whether it did not run from its beginning to its end at once. */
  isDisturbed = false
  readonly #stop: Stop | undefined
  readonly #database: Disturbable
  readonly #isRequest: boolean
  #calls = 0
  #underWay = 0
  #last: Promise<unknown> = Promise.resolve()
  #pause: PromiseWithResolvers<void> | undefined
  #isSettled = false
  #changed: PromiseWithResolvers<void> = Promise.withResolvers()

  constructor(
    { life, clock }: { life: Life; clock(): number },
    { do: name, stop }: Pick<Step, 'stop'> & { do: string },
    database: Disturbable,
  ) {
    this.life = life
    this.name = name
    this.at = clock()
    this.#isRequest = requests.includes(name)
    this.#stop = stop
    this.#database = database
  }

  static get current(): Task | undefined {
    return current.getStore()
  }

  get isPaused(): boolean {
    return this.#pause !== undefined
  }

  /** It runs, or waits, and a second of its kind would not begin meanwhile. */
  get isRunning(): boolean {
    return !this.#isSettled
  }

  /** Begins the work. Resolves when it is done, or waits for a later step. */
  async run(work: () => Promise<unknown>): Promise<void> {
    this.life.tasks.add(this)
    current
      .run(this, work)
      .catch(() => undefined)
      .finally(() => {
        this.#isSettled = true
        this.#change()
      })
    await this.#atRest()
  }

  /** For a server that handles a request of this task. */
  enter<T>(work: () => T): T {
    return current.run(this, work)
  }

  resume(): void {
    this.#pause?.resolve()
    this.#pause = undefined
  }

  async goOn(): Promise<void> {
    this.resume()
    await this.#atRest()
  }

  /** Work that an operation leaves behind, such as the sending of webhooks, belongs to it. */
  async #atRest(): Promise<void> {
    for (let seen = -1; ; ) {
      if (!this.isPaused && (!this.#isSettled || this.#underWay > 0)) await this.#changed.promise
      else if (seen === this.#calls) break
      else {
        seen = this.#calls
        await this.#database.isIdle()
        await nextTurn()
      }
    }
    if (!this.isPaused) this.life.tasks.delete(this)
  }

  #change(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  /** A call of a port. */
  async call<T>(work: () => Promise<T>, isWrite = false): Promise<T> {
    // Requests share what they read: one that waited would hold up the next.
    if (this.#isRequest && !isWrite) return work()
    this.#underWay += 1
    const turn = this.#last.then(() => this.#one(work, isWrite))
    this.#last = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      this.#underWay -= 1
      this.#change()
    }
  }

  async #one<T>(work: () => Promise<T>, isWrite: boolean): Promise<T> {
    this.#requireLife()
    this.#calls += 1
    const at = this.#isRequest ? 1 : this.#stop?.at
    const by = at === this.#calls ? this.#stop?.by : undefined
    if (by !== undefined) this.isDisturbed = true
    if (by === 'fail') throw new Lost()
    if (by === 'die') this.life.end()
    if (by === 'wait') await this.#waits()
    this.#requireLife()
    const value = await (by === 'commit' && isWrite
      ? (this.#database.commitFails(work) as Promise<T>)
      : work())
    if (by === 'die-after') this.life.end()
    if (by === 'lose') throw new Lost()
    if (by === 'pause') await this.#waits()
    this.#requireLife()
    return value
  }

  async #waits(): Promise<void> {
    this.#pause = Promise.withResolvers()
    this.#change()
    await this.#pause.promise
  }

  #requireLife(): void {
    if (this.life.isOver) throw new Lost()
  }
}

/** The call was not answered. */
class Lost extends DatabaseUnavailable {
  readonly code = 'ECONNECTION'

  constructor() {
    super('not answered')
  }
}
