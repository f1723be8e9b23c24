import type { Logger } from 'pino'

/** Bytes that were refused before they became a request. The log of requests has no line for them. */
export interface EarlyRefusal {
  /** The id in the answer, if there was one. */
  requestId?: string
  problem?: string
  /**
   * The code of the parser's error. Its message and the bytes are not logged, because they are the caller's
   * text.
   */
  reason: string | undefined
  address: string
}

const pauseMilliseconds = 1_000

/**
 * Logs early refusals (ASVS 5.0 16.3.3): the first at once, then at most one line a second with how many were
 * left out. So a flood cannot fill the log.
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
    this.#log.info({ event: 'request-unreadable', ...refusal, leftOut }, 'not a readable request')
    this.#pausing = true
    setTimeout(() => {
      this.#pausing = false
      if (this.#latest !== undefined) this.#write(this.#latest)
    }, pauseMilliseconds).unref()
  }
}

const linesPerAddress = 100
const windowMilliseconds = 60_000

/** Requests answered with 429. Each minute an address has a hundred lines; one more counts the rest. */
export class LimitedLog {
  readonly #log: Logger
  readonly #timer: NodeJS.Timeout
  /** In the current minute, by address. */
  #refused = new Map<string, number>()

  constructor(log: Logger) {
    this.#log = log
    this.#timer = setInterval(() => this.#sumUp(), windowMilliseconds)
    this.#timer.unref()
  }

  /** Counts one more. True if it gets a line; the others are only counted. */
  hasLine(address: string): boolean {
    const refused = (this.#refused.get(address) ?? 0) + 1
    this.#refused.set(address, refused)
    return refused <= linesPerAddress
  }

  close(): void {
    clearInterval(this.#timer)
    this.#sumUp()
  }

  #sumUp(): void {
    for (const [address, refused] of this.#refused) {
      const leftOut = refused - linesPerAddress
      if (leftOut > 0)
        this.#log.info({ event: 'requests-limited', address, leftOut }, 'further requests refused')
    }
    this.#refused = new Map()
  }
}
