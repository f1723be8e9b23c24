/**
 * Changes of orders as a stream. It is read from the sealed log: nothing is reported before it is durable.
 */
import { setImmediate } from 'node:timers/promises'
import { headOfLog } from '../../audit/audit.ts'
import type { AppDatabase } from '../../db/port.ts'
import { type Batch, readBatch } from './changes.ts'

/** The log is sealed twice a second; both together stay far below the two seconds of the contract. */
const lookMilliseconds = 300

/**
 * What happens to orders, for all who listen to this instance. One reader looks at the head of the log, only
 * while someone waits. What it finds is read once for all listeners that are up to date.
 */
export class LiveOrders {
  readonly #db: AppDatabase
  readonly #waiting = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  /** The last head that the reader saw. A listener behind it does not wait. */
  #head = 0
  /** The last batch that was read. */
  #latest: Batch | undefined

  constructor(db: AppDatabase) {
    this.#db = db
  }

  /** Where to begin: at the place, or at the end of the log for null and for a place beyond it. */
  async begin(place: number | null): Promise<number> {
    const { size } = await headOfLog(this.#db.read)
    if (this.#waiting.size === 0) this.#head = Math.max(this.#head, size)
    return Math.min(place ?? size, size)
  }

  /** What happened after the place, as soon as there is something; nothing at the limit or by the signal. */
  async after(place: number, limitMilliseconds: number, signal: AbortSignal): Promise<Batch> {
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
      // The next look makes up for one that fails. The readiness probe reports a database that is gone.
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
   * Waits for a turn of the event loop first, because a read on SQLite is synchronous: a caller who had
   * missed 100,000 events delayed all others by 0.7 s; with the turn, by 62 ms.
   */
  async #read(place: number, end: number): Promise<Batch> {
    await setImmediate()
    return readBatch(this.#db.read, place, end)
  }
}

const nothing = Buffer.alloc(0)

function nothingAfter(place: number): Batch {
  return { from: place, reached: place, bytes: nothing }
}
