import type { Clock } from '../clock.ts'
import { Problem, retryAfter } from '../problems/problems.ts'

export const hourMilliseconds = 3_600_000

/**
 * How many bytes of documents a caller may still send in the hour that began with their first, in the memory
 * of each instance. Bytes count when they are announced, so that nobody gets more by sending several
 * documents at once.
 */
export class Allowance {
  readonly #limitBytes: number
  readonly #monotonic: Clock
  readonly #hours = new Map<number, { endsAt: number; bytes: number }>()

  constructor(limitBytes: number, monotonic: Clock = () => performance.now()) {
    this.#limitBytes = limitBytes
    this.#monotonic = monotonic
  }

  /** Returns how to give back what did not come. Throws `rate-limited`. */
  take(caller: number, bytes: number): (unused: number) => void {
    const now = this.#monotonic()
    const known = this.#hours.get(caller)
    const hour =
      known !== undefined && known.endsAt > now ? known : { endsAt: now + hourMilliseconds, bytes: 0 }
    if (hour.bytes + bytes > this.#limitBytes) {
      throw tooManyBytes(this.#limitBytes, hour.endsAt - now)
    }
    hour.bytes += bytes
    this.#hours.set(caller, hour)
    return (unused) => {
      hour.bytes -= unused
    }
  }
}

export function tooManyBytes(limitBytes: number, waitMilliseconds: number): Problem {
  const detail = `At most ${limitBytes} bytes of documents in an hour.`
  return new Problem('rate-limited', { detail, headers: retryAfter(waitMilliseconds) })
}
