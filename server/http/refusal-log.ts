import type { Logger } from 'pino'

/** Bytes that were refused before they became a request. The log of requests has no line for them. */
interface EarlyRefusal {
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

const linesPerAddress = 100
const windowMilliseconds = 60_000

/**
 * Lines that anyone can cause (ASVS 5.0 16.3.3): of bytes that are no request, and of requests answered with
 * 429. Each minute an address has a hundred; one more counts the rest. So a flood cannot fill the log.
 */
export class RefusalLog {
  readonly #log: Logger
  readonly #timer: NodeJS.Timeout
  /** In the current minute, by address. */
  #refused = new Map<string, number>()

  constructor(log: Logger) {
    this.#log = log
    this.#timer = setInterval(() => this.#sumUp(), windowMilliseconds)
    this.#timer.unref()
  }

  note(refusal: EarlyRefusal): void {
    if (!this.hasLine(refusal.address)) return
    this.#log.info({ event: 'request-unreadable', ...refusal }, 'not a readable request')
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
