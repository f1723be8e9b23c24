import { DatabaseUnavailable } from './errors.ts'

export type Refusal = NonNullable<DatabaseUnavailable['refusesWrites']>

export interface RefusalOptions {
  /** Called when the database begins to refuse changes, for another reason, and when it takes them again. */
  onRefusal?: (refusal: Refusal | undefined) => void
  /** Operations that often change nothing: their success does not show that the database takes changes. */
  idleOperations?: readonly string[]
}

/** A trial is small: it may succeed where a larger write has just been refused. */
const trialPatienceMilliseconds = 5_000

/** Whether the database takes changes, by the outcome of writes. */
export class RefusedWrites {
  readonly #options: RefusalOptions
  #refusal: Refusal | undefined
  #refusedAt = Number.NEGATIVE_INFINITY

  constructor(options: RefusalOptions) {
    this.#options = options
  }

  /** Stands from a refused write to the next that succeeds. */
  get refusal(): Refusal | undefined {
    return this.#refusal
  }

  /** The outcome of the write, of which this takes note. */
  note<T>(name: string, written: Promise<T>): Promise<T> {
    return this.#noteIf(written, () => !this.#options.idleOperations?.includes(name))
  }

  noteTrial<T>(written: Promise<T>): Promise<T> {
    return this.#noteIf(written, () => performance.now() - this.#refusedAt > trialPatienceMilliseconds)
  }

  async #noteIf<T>(written: Promise<T>, showsSuccess: () => boolean): Promise<T> {
    try {
      const output = await written
      if (this.#refusal !== undefined && showsSuccess()) this.#become(undefined)
      return output
    } catch (error) {
      if (error instanceof DatabaseUnavailable && error.refusesWrites) this.#become(error.refusesWrites)
      throw error
    }
  }

  #become(refusal: Refusal | undefined): void {
    if (refusal !== undefined) this.#refusedAt = performance.now()
    if (refusal === this.#refusal) return
    this.#refusal = refusal
    this.#options.onRefusal?.(refusal)
  }
}
