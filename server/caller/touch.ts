import { sql } from '#kysely'
import { prepared, preparedFor } from '../db/prepared.ts'
import type { Trx } from '../db/tables.ts'

/** A valid signature by a passkey, as a write knows it. */
export interface Touch {
  passkeyId: string
  counter: number
  challenge: Challenge
}

export interface Challenge {
  /** Kept from the use of the challenge until `expiresAt`, so that a second use is noticed. */
  nonce: string
  expiresAt: number
}

/** Returns false if the challenge was used before. */
export async function takeChallenge(trx: Trx, challenge: Challenge): Promise<boolean> {
  return (await insertUsed(trx, challenge)).numAffectedRows === 1n
}

const insertUsed = prepared((trx, { nonce, expiresAt }: Challenge) =>
  trx
    .insertInto('used_challenges')
    .values({ nonce, expires_at: expiresAt })
    .onConflict((conflict) => conflict.column('nonce').doNothing()),
)

/** Undoes `takeChallenge`, for the transaction that took it. */
export const giveChallengeBack = prepared((trx, { nonce }: Challenge) =>
  trx.deleteFrom('used_challenges').where('nonce', '=', nonce),
)

/**
 * Returns false if the passkey is no longer one of the account, or has meanwhile counted further (WebAuthn
 * Level 3 §6.1.1), unless it may be synced. Null for a counter that was compared before.
 */
export async function countTouch(trx: Trx, use: TouchUse): Promise<boolean> {
  // An authenticator that does not count always sends 0.
  const counts = use.counter === null ? null : use.counter === 0 ? '=' : '<'
  return (await updateCounter(trx, { counts }, use)).numAffectedRows === 1n
}

interface TouchUse {
  id: string
  principalId: number
  counter: number | null
  nowMilliseconds: number
}

const updateCounter = preparedFor(
  (
    trx,
    { counts }: { counts: '=' | '<' | null },
    { id, principalId, counter, nowMilliseconds }: TouchUse,
  ) => {
    const update = trx
      .updateTable('passkeys')
      .set('last_used_at', nowMilliseconds)
      .where('id', '=', id)
      .where('principal_id', '=', principalId)
    if (counts === null || counter === null) return update
    const further = sql<number>`case when counter < ${counter} then ${counter} else counter end`
    return update
      .set('counter', further)
      .where((eb) => eb.or([eb('counter', counts, counter), eb('synced', '=', 1)]))
  },
)
