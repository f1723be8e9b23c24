/** Waits after failed sign-ins. They are counted in the database, so they hold on every instance. */
import type { Clock } from '../../../clock.ts'
import type { AppDatabase } from '../../../db/port.ts'
import { keyedHash } from '../../../ids.ts'
import { OneAtATime } from '../passwords/one-at-a-time.ts'
import { isKnownAddress, type LoginTry } from './store.ts'

/** How many tries may wait for their turn on one account, or on one of its known addresses. */
const waitingTriesLimit = 128

/**
 * The waits after failed sign-ins (section 8 of the contract; ASVS 5.0 6.3.1). The counters are in the
 * database, shared by all instances. Within an instance, the tries on one account from unknown addresses take
 * turns: each is reserved when the one before has ended, so that successful tries never count against each
 * other.
 */
export class LoginThrottle {
  readonly #db: AppDatabase
  readonly #clock: Clock
  readonly #hash: (counted: string) => string
  readonly #tries = new OneAtATime(waitingTriesLimit)

  constructor(db: AppDatabase, clock: Clock, secret: Buffer) {
    this.#db = db
    this.#clock = clock
    this.#hash = keyedHash(secret, 'sign-in')
  }

  /**
   * Runs `check`, which returns undefined for a wrong password, as one try on the account from the address.
   * Throws `too-many-attempts` without checking during a wait, even for accounts that do not exist.
   */
  async attempt<T>(
    account: string,
    address: string,
    check: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const accountHash = this.#hash(`account\n${account}`)
    const pairHash = this.#hash(`pair\n${address}\n${account}`)
    const network = networkOf(address)
    const networkHash = network === null ? null : this.#hash(`pair\n${network}\n${account}`)
    const isKnown = await isKnownAddress(this.#db.read, { pairHash, nowMilliseconds: this.#clock() })
    // A caller at an address from which the account recently signed in does not queue behind strangers
    // either.
    return this.#tries.run(isKnown ? pairHash : accountHash, async () => {
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
}

/** The /48 around a /64, because one caller may control every /64 in it; null for IPv4. */
function networkOf(address: string): string | null {
  return address.endsWith('::/64') ? `${address.split(':').slice(0, 3).join(':')}::/48` : null
}
