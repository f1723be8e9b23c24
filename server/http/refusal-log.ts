import type { Logger } from 'pino'

/** A request that was refused before it was one: no line of requests tells of it. */
export interface EarlyRefusal {
  /** As in the answer, where there was one. */
  requestId?: string
  problem?: string
  /** The code of the parser's error; its message and the bytes are the caller's text. */
  reason: string | undefined
  address: string
}

const pauseMilliseconds = 1_000

/**
 * The log of what was refused before it was a request (ASVS 5.0 16.3.3): the first at once, then at most one line a
 * second, which tells how many it stands for, so that a flood cannot fill the log.
 */
export class RefusalLog {
  readonly #log: Logger
  #pausing = false
  #leftOut = 0
  #latest: EarlyRefusal | undefined

  constructor(log: Logger) {
    this.#log = log
  }

  note(refusal: EarlyRefusal): void {
    if (this.#pausing) {
      if (this.#latest !== undefined) this.#leftOut += 1
      this.#latest = refusal
    } else this.#write(refusal)
  }

  #write(refusal: EarlyRefusal): void {
    const leftOut = this.#leftOut === 0 ? undefined : this.#leftOut
    this.#latest = undefined
    this.#leftOut = 0
    this.#log.info({ event: 'request-unreadable', ...refusal, leftOut }, 'what came was no request')
    this.#pausing = true
    setTimeout(() => {
      this.#pausing = false
      if (this.#latest !== undefined) this.#write(this.#latest)
    }, pauseMilliseconds).unref()
  }
}
