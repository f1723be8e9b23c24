/**
 * Changes of orders as a stream. It is read from the sealed log: nothing is reported before it is durable.
 */
import { setImmediate } from 'node:timers/promises'
import { isBefore, nowhere, type Place, spellPlace } from '../../../proof/place.ts'
import { endOfLog } from '../../audit/audit.ts'
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
  /** The last end of the log that the reader saw. A listener behind it does not wait. */
  #end = nowhere
  /** The last batch that was read. */
  #latest: Batch | undefined

  constructor(db: AppDatabase) {
    this.#db = db
  }

  /** The end of the log now. */
  async end(): Promise<Place> {
    const end = await endOfLog(this.#db.read)
    if (this.#waiting.size === 0 && isBefore(this.#end, end)) this.#end = end
    return end
  }

  /**
   * Waits for what happens after the place. Returns it as soon as there is something, or nothing at the time
   * limit or when the signal fires. Far behind and from another era, it returns an event `reset` in place of
   * what was missed.
   */
  async after(place: Place, limitMilliseconds: number, signal: AbortSignal): Promise<Batch> {
    if (this.#isUpToDate(place)) await this.#news(limitMilliseconds, signal)
    if (this.#isUpToDate(place)) return nothingAfter(place)
    const { era, sequence } = this.#end
    if (place.era !== era || sequence - place.sequence > replayLimit) return resetTo(this.#end)
    const latest = this.#latest
    const isLatest = latest?.from.era === era && latest.from.sequence === place.sequence
    return isLatest ? latest : this.#read(place, sequence)
  }

  #isUpToDate({ era, sequence }: Place): boolean {
    return era === this.#end.era && sequence >= this.#end.sequence
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
    const end = await endOfLog(this.#db.read)
    if (end.era !== this.#end.era) return this.#moveTo(end)
    while (isBefore(this.#end, end)) {
      this.#latest = await this.#read(this.#end, end.sequence)
      this.#moveTo(this.#latest.reached)
    }
  }

  #moveTo(end: Place): void {
    this.#end = end
    for (const wake of [...this.#waiting]) wake()
  }

  /**
   * Waits for a turn of the event loop first, because a read on SQLite is synchronous. Without this turn, a
   * caller who had missed 100,000 events delayed all others by 0.7 s; with it, by 62 ms.
   */
  async #read(place: Place, end: number): Promise<Batch> {
    await setImmediate()
    return readBatch(this.#db.read, place, end)
  }
}

const nothing = Buffer.alloc(0)

/** Without data a browser would not report the event. */
function resetTo(place: Place): Batch {
  return {
    from: place,
    reached: place,
    bytes: Buffer.from(`id: ${spellPlace(place)}\nevent: reset\ndata: {}\n\n`),
  }
}

function nothingAfter(place: Place): Batch {
  return { from: place, reached: place, bytes: nothing }
}
