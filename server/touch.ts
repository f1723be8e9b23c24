import type { Trx } from './db/tables.ts'

/** A valid signature by a passkey, as a write knows it. */
export interface Touch {
  passkeyId: string
  counter: number
  challenge: Challenge
}

/** What a challenge says about itself. */
export interface Challenge {
  /** Kept from the use of the challenge until `expiresAt`, so that a second use is noticed. */
  nonce: string
  expiresAt: number
}

/** Returns false if the challenge was used before. */
export async function takeChallenge(trx: Trx, { nonce, expiresAt }: Challenge): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('used_challenges')
    .values({ nonce, expires_at: expiresAt })
    .onConflict((conflict) => conflict.column('nonce').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/**
 * Returns false if the passkey is no longer one of the account, or has meanwhile counted further (WebAuthn
 * Level 3 §6.1.1). Null for a counter that was compared before.
 */
export async function countTouch(
  trx: Trx,
  use: { id: string; principalId: number; counter: number | null; nowMilliseconds: number },
): Promise<boolean> {
  const { id, principalId, counter, nowMilliseconds } = use
  let update = trx
    .updateTable('passkeys')
    .set({ last_used_at: nowMilliseconds, ...(counter !== null && { counter }) })
    .where('id', '=', id)
    .where('principal_id', '=', principalId)
  // An authenticator that does not count always sends 0.
  if (counter !== null) update = update.where('counter', counter === 0 ? '=' : '<', counter)
  return (await update.executeTakeFirst()).numUpdatedRows === 1n
}
