import type { Clock } from '../../clock.ts'
import { DatabaseUnavailable } from '../../db/errors.ts'
import { Problem, retryAfter } from '../../http/problems.ts'
import { sha256 } from '../../ids.ts'
import type { AppDatabase } from '../../operations.ts'
import { isKnownAddress, type LoginTry } from './store.ts'

/** Tries that may wait for their turn on one account, or on one of its known addresses. */
const waitingTriesLimit = 128

/**
 * The waits after failed sign-ins (section 8 of the contract; ASVS 5.0 6.3.1). The counters are in the database, shared
 * by all instances. Within an instance the tries of one account take turns, from whatever address that it does not
 * know: each is reserved when the one before has ended, so that successes never count against each other.
 */
export class LoginThrottle {
  readonly #db: AppDatabase
  readonly #clock: Clock
  readonly #turns = new Map<string, { waiting: number; last: Promise<unknown> }>()

  constructor(db: AppDatabase, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /**
   * Runs `check` as one try on the account from the address; it returns undefined for a wrong password. Throws
   * `too-many-attempts` without checking during a wait, alike for accounts that do not exist.
   */
  async attempt<T>(
    account: string,
    address: string,
    check: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const accountHash = sha256(`account\n${account}`)
    const pairHash = sha256(`pair\n${address}\n${account}`)
    const network = networkOf(address)
    const networkHash = network === null ? null : sha256(`pair\n${network}\n${account}`)
    const isKnown = await isKnownAddress(this.#db.read, { pairHash, nowMilliseconds: this.#clock() })
    // Who signed in from there of late does not queue behind strangers either.
    return this.#inTurn(isKnown ? pairHash : accountHash, async () => {
      const nowMilliseconds = this.#clock()
      const reserved: LoginTry = { accountHash, pairHash, networkHash, isKnown, nowMilliseconds }
      await this.#db.write('reserveLoginTry', reserved)
      const result = await check().catch(async (error: unknown) => {
        await this.#db.write('returnLoginTry', { ...reserved, succeeded: false })
        throw error
      })
      if (result !== undefined) await this.#db.write('returnLoginTry', { ...reserved, succeeded: true })
      return result
    })
  }

  async #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = this.#turns.get(key) ?? { waiting: 0, last: Promise.resolve() }
    if (turn.waiting >= waitingTriesLimit) throw new Problem('overloaded', { headers: retryAfter(1_000) })
    turn.waiting += 1
    this.#turns.set(key, turn)
    const mine = turn.last.then(work)
    turn.last = mine.catch((error: unknown) => {
      // When the database is gone, those that wait need not each find out anew.
      if (error instanceof DatabaseUnavailable) throw error
    })
    turn.last.catch(() => undefined)
    try {
      return await mine
    } finally {
      turn.waiting -= 1
      if (turn.waiting === 0) this.#turns.delete(key)
    }
  }
}

/** The /48 of a /64, in which one caller may have every /64; null for IPv4. */
function networkOf(address: string): string | null {
  return address.endsWith('::/64') ? `${address.split(':').slice(0, 3).join(':')}::/48` : null
}
