/**
 * Changes of orders as a stream. It is read from the sealed log: nothing is reported before it is durable.
 */
import { setImmediate } from 'node:timers/promises'
import { headOfLog } from '../../audit/audit.ts'
import type { AppDatabase } from '../../db/port.ts'
import { type Batch, readBatch } from './changes.ts'

/** The log is sealed twice a second; both together stay far below the two seconds of the contract. */
const lookMilliseconds = 300
/** A listener that is further behind reads its lists again, which costs less than the events in between. */
const replayLimit = 5_000

/**
 * What happens to orders, for all listeners of this instance. One reader looks at the head of the log, and
 * only while someone waits. New events are read once for all listeners that are up to date.
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

  /**
   * Waits for what happens after the place. Returns it as soon as there is something, or nothing at the time
   * limit or when the signal fires. Far behind, it returns an event `reset` in place of what was missed.
   */
  async after(place: number, limitMilliseconds: number, signal: AbortSignal): Promise<Batch> {
    if (place >= this.#head) await this.#news(limitMilliseconds, signal)
    if (place >= this.#head) return nothingAfter(place)
    if (this.#head - place > replayLimit) return resetTo(this.#head)
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
   * Waits for a turn of the event loop first, because a read on SQLite is synchronous. Without this turn, a
   * caller who had missed 100,000 events delayed all others by 0.7 s; with it, by 62 ms.
   */
  async #read(place: number, end: number): Promise<Batch> {
    await setImmediate()
    return readBatch(this.#db.read, place, end)
  }
}

const nothing = Buffer.alloc(0)

/** Without data a browser would not report the event. */
function resetTo(place: number): Batch {
  return { from: place, reached: place, bytes: Buffer.from(`id: ${place}\nevent: reset\ndata: {}\n\n`) }
}

function nothingAfter(place: number): Batch {
  return { from: place, reached: place, bytes: nothing }
}
