import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '#kysely'
import type { Trx } from '../tables.ts'

export const trialName = 'writeTrial'

/** The smallest change that has to reach the disk. */
export async function writeTrial(trx: Trx): Promise<void> {
  await sql`insert into leases (name, term, ends_at) values (${trialName}, 1, 0)
    on conflict (name) do update set term = term + 1`.execute(trx)
}

/** Anyone may ask for a trial. */
const intervalMilliseconds = 1_000
/** A probe waits no longer for a writer that is busy. */
const patienceMilliseconds = 1_500

/** Tries to write, at most once a second for all who ask: only a write shows whether the disk has room. */
export class Trial {
  readonly #write: () => Promise<unknown>
  #made: { at: number; outcome: Promise<unknown> } | undefined

  constructor(write: () => Promise<unknown>) {
    this.#write = write
  }

  /** Resolves once the last trial has ended, however it did, or takes too long. */
  async make(): Promise<void> {
    const now = performance.now()
    if (this.#made === undefined || now - this.#made.at >= intervalMilliseconds) {
      this.#made = { at: now, outcome: this.#write().catch(() => undefined) }
    }
    const patience = new AbortController()
    const end = delay(patienceMilliseconds, undefined, { signal: patience.signal }).catch(() => undefined)
    await Promise.race([this.#made.outcome, end])
    patience.abort()
  }
}
