/** Passwords are stored as Argon2id hashes, and new ones are judged offline. */
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { Turns } from '../../../db/fair-queue.ts'

/** OWASP Password Storage Cheat Sheet: Argon2id (algorithm 2) with 19 MiB, 2 passes, 1 lane. */
const parameters = { algorithm: 2, memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 }

/** How many hashes may wait: at about 12 ms each on two cores, the last waits less than a second. */
const queueLimit = 128

/**
 * A hash that no password matches; its salt and tag are zeros. Checking it for an unknown user costs as much
 * as checking the hash of a known one.
 */
export const nobodysHash = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** One password on every keyboard (RFC 8265 §4.2, NIST SP 800-63B-4). */
const normalized = (password: string) => password.normalize('NFC')

/**
 * Argon2id off the event loop, at most one hash per core at a time. Throws `TooManyWaiting` when the queue is
 * full.
 */
export class Passwords {
  readonly #turns = new Turns({ atOnce: availableParallelism(), waiting: queueLimit })

  get waiting(): number {
    return this.#turns.load.waiting
  }

  /** PHC string with a random salt. */
  hash(password: string): Promise<string> {
    return this.#inTurn(() => hash(normalized(password), parameters))
  }

  /** For an unknown user, pass undefined: the answer is false, after the same amount of work. */
  verify(passwordHash: string | undefined, password: string): Promise<boolean> {
    return this.#inTurn(async () => {
      const matches = await verify(passwordHash ?? nobodysHash, normalized(password))
      return matches && passwordHash !== undefined
    })
  }

  /** All callers share one queue. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run('', work)
  }
}
