import { sql } from '#kysely'
import { clockDifferenceMilliseconds } from '../../../clock.ts'
import { prepared, unseen, unseenNumber } from '../../../db/prepared.ts'
import type { Db, Trx } from '../../../db/tables.ts'
import { Problem, retryAfter } from '../../../problems/problems.ts'
import { removal } from '../../../upkeep.ts'

interface Policy {
  freeTries: number
  waitLimitMilliseconds: number
}

/** Section 8 of the contract. No setting scales these. */
const pairPolicy: Policy = { freeTries: 5, waitLimitMilliseconds: 15 * 60_000 }
const networkPolicy: Policy = { ...pairPolicy, freeTries: 4 * pairPolicy.freeTries }
const accountPolicy: Policy = { freeTries: 100, waitLimitMilliseconds: 60_000 }
const firstWaitMilliseconds = 1_000
const forgottenAfterMilliseconds = 24 * 3_600_000
const knownForMilliseconds = 30 * 24 * 3_600_000
/** How many addresses of an account are remembered: its password must not let a caller fill the table. */
const knownAddressesLimit = 100

export interface LoginTry {
  pairHash: string
  /** Hash of account and IPv6 /48 together. */
  networkHash: string | null
  accountHash: string
  /**
   * The account recently signed in from this address. If so, only failed tries from this address make it
   * wait.
   */
  isKnown: boolean
  nowMilliseconds: number
}

/**
 * Reserves a try before the password is hashed, so that fifty parallel guesses count as fifty tries. During a
 * wait it counts nothing and throws `too-many-attempts`.
 */
export async function reserveLoginTry(trx: Trx, input: LoginTry): Promise<void> {
  const { networkHash, isKnown, nowMilliseconds: now } = input
  if (!isKnown) await reserve(trx, input.accountHash, now, accountPolicy)
  if (!isKnown && networkHash !== null) await reserve(trx, networkHash, now, networkPolicy)
  await reserve(trx, input.pairHash, now, pairPolicy)
}

async function reserve(
  trx: Trx,
  keyHash: string,
  now: number,
  { freeTries, waitLimitMilliseconds }: Policy,
): Promise<void> {
  // No wait lasts that long: such an end was written before the clock was set back.
  const endlessAfter = now + waitLimitMilliseconds + clockDifferenceMilliseconds
  const forgottenBefore = now - forgottenAfterMilliseconds
  const reserved = (await countTry(trx, { keyHash, now, forgottenBefore, endlessAfter })).rows[0]
  if (reserved === undefined) throw await tooManyAttempts(trx, keyHash, now)
  const waitMilliseconds = waitAfter(reserved.failures, freeTries, waitLimitMilliseconds)
  const blockedUntil = waitMilliseconds === 0 ? 0 : now + waitMilliseconds
  if (blockedUntil !== reserved.blocked_until) await block(trx, { keyHash, blockedUntil })
}

/** Counts one more try, or starts again at one after a long time. Returns no row during a wait. */
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

/** No wait while tries are free; then one second, doubling up to the limit. */
function waitAfter(failures: number, freeTries: number, limitMilliseconds: number): number {
  if (failures < freeTries) return 0
  return Math.min(firstWaitMilliseconds * 2 ** (failures - freeTries), limitMilliseconds)
}

async function tooManyAttempts(trx: Trx, keyHash: string, now: number): Promise<Problem> {
  const { blocked_until } = await trx
    .selectFrom('login_failures')
    .select('blocked_until')
    .where('key_hash', '=', keyHash)
    .executeTakeFirstOrThrow()
  return new Problem('too-many-attempts', { headers: retryAfter(blocked_until - now) })
}

/**
 * Gives a reserved try back. A success resets the counter of the pair and makes its address a known one. A
 * try that checked no password, for example because the queue was full, is only subtracted. No wait was
 * running when the try was reserved, so none is left.
 */
export async function returnLoginTry(trx: Trx, input: LoginTry & { succeeded: boolean }): Promise<void> {
  const { networkHash, isKnown, pairHash } = input
  // In the order of reserving: locking the rows in the opposite order would deadlock.
  if (!isKnown) await takeOff(trx, { keyHash: input.accountHash })
  if (!isKnown && networkHash !== null) await takeOff(trx, { keyHash: networkHash })
  if (!input.succeeded) {
    await takeOff(trx, { keyHash: pairHash })
    return
  }
  await forget(trx, { keyHash: pairHash })
  await remember(trx, input)
  await forgetOldestAddress(trx, input)
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

const remember = prepared((trx, signIn: LoginTry) =>
  trx
    .insertInto('known_addresses')
    .values({
      pair_hash: signIn.pairHash,
      account_hash: signIn.accountHash,
      signed_in_at: signIn.nowMilliseconds,
    })
    .onConflict((conflict) =>
      conflict.column('pair_hash').doUpdateSet(({ ref }) => ({ signed_in_at: ref('excluded.signed_in_at') })),
    ),
)

const forgetOldestAddress = prepared((trx, signIn: LoginTry) =>
  trx
    .deleteFrom('known_addresses')
    .where('pair_hash', 'in', (eb) =>
      eb
        .selectFrom('known_addresses')
        .select('pair_hash')
        .where('account_hash', '=', unseen(signIn.accountHash))
        .orderBy('signed_in_at', 'desc')
        .limit(sql.lit(1))
        .offset(sql.lit(knownAddressesLimit)),
    ),
)

/** Whether the account signed in from the address in the last 30 days. */
export async function isKnownAddress(
  db: Db,
  { pairHash, nowMilliseconds }: { pairHash: string; nowMilliseconds: number },
): Promise<boolean> {
  const since = nowMilliseconds - knownForMilliseconds
  return (await selectKnown(db, { pairHash, since })).rows.length === 1
}

const selectKnown = prepared((db, address: { pairHash: string; since: number }) =>
  db
    .selectFrom('known_addresses')
    .select('pair_hash')
    .where('pair_hash', '=', address.pairHash)
    .where('signed_in_at', '>', unseenNumber(address.since)),
)

export const forgottenTries = removal({
  name: 'removeForgottenTries',
  table: 'login_failures',
  key: ['key_hash'],
  since: 'updated_at',
  keptMilliseconds: () => forgottenAfterMilliseconds,
  batch: 50,
})

export const forgottenAddresses = removal({
  name: 'removeForgottenAddresses',
  table: 'known_addresses',
  key: ['pair_hash'],
  since: 'signed_in_at',
  keptMilliseconds: () => knownForMilliseconds,
  batch: 50,
})
