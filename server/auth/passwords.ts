import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { Problem, retryAfter } from '../http/problems.ts'

/** OWASP Password Storage Cheat Sheet: Argon2id (algorithm 2) with 19 MiB, 2 passes, 1 lane. */
const parameters = { algorithm: 2, memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 }

/** Hashes that may wait; at about 12 ms each on two cores the last of them waits less than a second. */
const queueLimit = 128

/**
 * A hash that no password matches; its salt and tag are zeros. Checking it for unknown users costs the same as checking
 * the hash of a known one.
 */
export const nobodysHash = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** Argon2id off the event loop, at most one hash per core at a time. Throws `overloaded` when the queue is full. */
export class Passwords {
  readonly #concurrency = availableParallelism()
  readonly #queue: (() => void)[] = []
  #running = 0

  /** Hashes that wait for a core. */
  get waiting(): number {
    return this.#queue.length
  }

  /** PHC string with a random salt. */
  hash(password: string): Promise<string> {
    return this.#limited(() => hash(password, parameters))
  }

  /** Pass undefined for an unknown user: the answer is then false after the same work. */
  verify(passwordHash: string | undefined, password: string): Promise<boolean> {
    return this.#limited(async () => {
      const matches = await verify(passwordHash ?? nobodysHash, password)
      return matches && passwordHash !== undefined
    })
  }

  async #limited<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#concurrency) {
      if (this.#queue.length >= queueLimit) throw new Problem('overloaded', { headers: retryAfter(1_000) })
      await new Promise<void>((resolve) => this.#queue.push(resolve))
    } else {
      this.#running += 1
    }
    try {
      return await work()
    } finally {
      // The next in the queue takes this place.
      const next = this.#queue.shift()
      if (next) next()
      else this.#running -= 1
    }
  }
}
