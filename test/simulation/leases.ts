import assert from 'node:assert/strict'
import { type Life, Task } from './task.ts'

/** The clock of the database runs on by itself during a step. */
const tolerance = 2_000
const usualMilliseconds = 10_000

interface Given {
  name: string
  term: number | null
  milliseconds?: number
}

/** The holders of leases: one instance at a time, and no term has two. */
export class Leases {
  readonly #held = new Map<string, { life: Life; term: number; until: number }>()
  readonly faults: unknown[] = []
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  /** A write of an instance that the database has just made. */
  note(write: string, input: unknown, result: unknown): void {
    const life = Task.current?.life
    if (life === undefined) return
    const given = input as Given
    if (write === 'endLease' && this.#held.get(given.name)?.term === given.term) this.#held.delete(given.name)
    if (write === 'holdLease') this.#got(life, given, result as number | null)
    if (write !== 'runJob') return
    const { term, done } = result as { term: number | null; done: number }
    this.#got(life, given, term)
    if (term === null && given.term !== null && done > 0)
      this.faults.push(new Error('work without its lease'))
  }

  #got(
    life: Life,
    { name, term: asked, milliseconds = usualMilliseconds }: Given,
    term: number | null,
  ): void {
    if (term === null) return
    const held = this.#held.get(name)
    try {
      if (term === asked)
        assert.ok(held === undefined || held.life === life, `${name}: a term of another holder`)
      else assert.ok(held === undefined || held.until <= this.#now() + tolerance, `${name}: a second holder`)
      assert.ok(held?.term !== term || held.life === life, `${name}: a term has two holders`)
    } catch (error) {
      this.faults.push(error)
    }
    this.#held.set(name, { life, term, until: this.#now() + milliseconds })
  }

  /** For work that only the holder may do. */
  require(name: string): void {
    const { current } = Task
    if (current === undefined || current.isDisturbed) return
    const isHeld = this.#held.get(name)?.life === current.life
    if (!isHeld) this.faults.push(new Error(`${name}: work without its lease`))
  }

  forget(): void {
    this.#held.clear()
  }
}
