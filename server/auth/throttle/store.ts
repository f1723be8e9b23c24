import { sql, type Transaction } from 'kysely'
import { clockDifferenceMilliseconds } from '../../clock.ts'
import { prepared } from '../../db/prepared.ts'
import type { Database } from '../../db/tables.ts'
import { Problem, retryAfter } from '../../http/problems.ts'

/** Section 8 of the contract. These are never scaled by a setting. */
const pairFreeTries = 5
const accountFreeTries = 100
const firstWaitMilliseconds = 1_000
const pairWaitLimitMilliseconds = 15 * 60_000
const accountWaitLimitMilliseconds = 60_000
const forgottenAfterMilliseconds = 24 * 3_600_000

export interface LoginTry {
  /** Hash of account and address together. */
  pairKey: string
  /** Hash of the account. */
  accountKey: string
  nowMilliseconds: number
}

/**
 * Reserves a login try before the password is hashed, so that fifty parallel guesses are fifty tries. Throws
 * `too-many-attempts` during a wait; then nothing is counted.
 */
export async function reserveLoginTry(trx: Transaction<Database>, input: LoginTry): Promise<void> {
  const { nowMilliseconds } = input
  await reserve(trx, input.accountKey, nowMilliseconds, accountFreeTries, accountWaitLimitMilliseconds)
  await reserve(trx, input.pairKey, nowMilliseconds, pairFreeTries, pairWaitLimitMilliseconds)
}

async function reserve(
  trx: Transaction<Database>,
  keyHash: string,
  now: number,
  freeTries: number,
  waitLimitMilliseconds: number,
): Promise<void> {
  // No wait is that long: it was written before the clock was set back.
  const endlessAfter = now + waitLimitMilliseconds + clockDifferenceMilliseconds
  const forgottenBefore = now - forgottenAfterMilliseconds
  const reserved = (await countTry(trx, { keyHash, now, forgottenBefore, endlessAfter })).rows[0]
  if (reserved === undefined) throw await tooManyAttempts(trx, keyHash, now)
  const waitMilliseconds = waitAfter(reserved.failures, freeTries, waitLimitMilliseconds)
  const blockedUntil = waitMilliseconds === 0 ? 0 : now + waitMilliseconds
  if (blockedUntil !== reserved.blocked_until) await block(trx, { keyHash, blockedUntil })
}

/** One more try, or the first after long; no row while a wait runs. */
const countTry = prepared(
  (trx, tried: { keyHash: string; now: number; forgottenBefore: number; endlessAfter: number }) => {
    const { keyHash, now, forgottenBefore, endlessAfter } = tried
    const forgotten = sql<boolean>`login_failures.updated_at <= ${forgottenBefore}`
    const failures = sql<number>`case when ${forgotten} then 1 else login_failures.failures + 1 end`
    return trx
      .insertInto('login_failures')
      .values({ key_hash: keyHash, failures: 1, blocked_until: 0, updated_at: now })
      .onConflict((conflict) =>
        conflict
          .column('key_hash')
          .doUpdateSet({ failures, updated_at: now })
          .where((eb) =>
            eb.or([
              eb('login_failures.blocked_until', '<=', now),
              eb('login_failures.blocked_until', '>', endlessAfter),
              forgotten,
            ]),
          ),
      )
      .returning(['failures', 'blocked_until'])
  },
)

const block = prepared((trx, wait: { keyHash: string; blockedUntil: number }) =>
  trx
    .updateTable('login_failures')
    .set('blocked_until', wait.blockedUntil)
    .where('key_hash', '=', wait.keyHash),
)

/** None while tries are free, then one second, doubling up to the limit. */
function waitAfter(failures: number, freeTries: number, limitMilliseconds: number): number {
  if (failures < freeTries) return 0
  return Math.min(firstWaitMilliseconds * 2 ** (failures - freeTries), limitMilliseconds)
}

async function tooManyAttempts(trx: Transaction<Database>, keyHash: string, now: number): Promise<Problem> {
  const { blocked_until } = await trx
    .selectFrom('login_failures')
    .select('blocked_until')
    .where('key_hash', '=', keyHash)
    .executeTakeFirstOrThrow()
  return new Problem('too-many-attempts', { headers: retryAfter(blocked_until - now) })
}

/**
 * Gives a reserved try back. After a success the pair starts afresh; a try in which no password was checked (the queue
 * was full, say) is only taken off. No wait was running when the try was reserved, so none is left.
 */
export async function returnLoginTry(
  trx: Transaction<Database>,
  input: LoginTry & { succeeded: boolean },
): Promise<void> {
  // The account first, as when reserving: opposite orders of rows would be a deadlock.
  await takeOff(trx, { keyHash: input.accountKey })
  if (input.succeeded) {
    await forget(trx, { keyHash: input.pairKey })
  } else {
    await takeOff(trx, { keyHash: input.pairKey })
  }
}

const forget = prepared((trx, key: { keyHash: string }) =>
  trx.deleteFrom('login_failures').where('key_hash', '=', key.keyHash),
)

const takeOff = prepared((trx, key: { keyHash: string }) =>
  trx
    .updateTable('login_failures')
    .set((eb) => ({ failures: eb('failures', '-', 1), blocked_until: 0 }))
    .where('key_hash', '=', key.keyHash)
    .where('failures', '>', 0),
)

/** Deletes at most `limit` counters that are forgotten by now. Returns the number of rows. */
export async function removeForgottenTries(
  trx: Transaction<Database>,
  { nowMilliseconds, limit }: { nowMilliseconds: number; limit: number },
): Promise<number> {
  const forgotten = trx
    .selectFrom('login_failures')
    .select('key_hash')
    .where('updated_at', '<=', nowMilliseconds - forgottenAfterMilliseconds)
    .limit(limit)
  const { numDeletedRows } = await trx
    .deleteFrom('login_failures')
    .where('key_hash', 'in', forgotten)
    .executeTakeFirst()
  return Number(numDeletedRows)
}
