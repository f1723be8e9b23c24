import { setImmediate } from 'node:timers/promises'
import { headOfLog } from '../../audit/audit.ts'
import type { AppDatabase } from '../../db/port.ts'
import { type Portion, readPortion } from './changes.ts'

/** The log is sealed twice a second; both together stay far below the two seconds of the contract. */
const lookMilliseconds = 300

/**
 * What happens to orders, for all who listen to this instance. One reader asks for the head of the log, and only while
 * somebody waits; what it finds is read once for all who are up to date.
 */
export class LiveOrders {
  readonly #db: AppDatabase
  readonly #waiting = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  /** The last head that the reader saw. Whoever is behind it need not wait. */
  #head = 0
  /** What it read last. */
  #latest: Portion | undefined

  constructor(db: AppDatabase) {
    this.#db = db
  }

  /** Where to begin: at the place, or at the end of the log for null and for a place that it has not reached. */
  async begin(place: number | null): Promise<number> {
    const { size } = await headOfLog(this.#db.read)
    if (this.#waiting.size === 0) this.#head = Math.max(this.#head, size)
    return Math.min(place ?? size, size)
  }

  /** What happened after the place, as soon as there is something; at the limit, or by the signal, nothing. */
  async after(place: number, limitMilliseconds: number, signal: AbortSignal): Promise<Portion> {
    if (place >= this.#head) await this.#news(limitMilliseconds, signal)
    if (place >= this.#head) return nothingAfter(place)
    return place === this.#latest?.from ? this.#latest : this.#read(place, this.#head)
  }

  #news(limitMilliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(limit)
        signal.removeEventListener('abort', end)
        this.#waiting.delete(end)
        resolve()
      }
      const limit = setTimeout(end, limitMilliseconds).unref()
      if (signal.aborted) return end()
      signal.addEventListener('abort', end)
      this.#waiting.add(end)
      this.#lookSoon()
    })
  }

  #lookSoon(): void {
    this.#timer ??= setTimeout(async () => {
      // Of a look that fails the next does the work; the readiness probe tells of a database that is gone.
      await this.#look().catch(() => undefined)
      this.#timer = undefined
      if (this.#waiting.size > 0) this.#lookSoon()
    }, lookMilliseconds).unref()
  }

  async #look(): Promise<void> {
    if (this.#waiting.size === 0) return
    const { size } = await headOfLog(this.#db.read)
    while (this.#head < size) {
      const latest = await this.#read(this.#head, size)
      this.#latest = latest
      this.#head = Math.max(this.#head, latest.reached)
      for (const end of [...this.#waiting]) end()
    }
  }

  /**
   * After a turn of the event loop, for on SQLite a read has none of its own: a caller who had missed 100,000 events
   * held everybody else up for 0.7 s; with the turn it is 62 ms.
   */
  async #read(place: number, end: number): Promise<Portion> {
    await setImmediate()
    return readPortion(this.#db.read, place, end)
  }
}

const nothing = Buffer.alloc(0)

function nothingAfter(place: number): Portion {
  return { from: place, reached: place, bytes: nothing }
}
