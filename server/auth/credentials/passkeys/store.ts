import { sql } from '#kysely'
import { type Challenge, countTouch, type Touch, takeChallenge } from '../../../caller/touch.ts'
import { clockDifferenceMilliseconds } from '../../../clock.ts'
import { prepared, unseen } from '../../../db/prepared.ts'
import type { Db, Trx } from '../../../db/tables.ts'
import { Problem } from '../../../problems/problems.ts'
import { removal } from '../../../upkeep.ts'
import { type PasswordOrigin, selectCredentials, type UserCredentials } from '../../accounts/users/store.ts'

/** A passkey as its owner sees it. Instants in milliseconds. */
export interface StoredPasskey {
  id: string
  name: string
  /** Whether its key may exist on several devices. */
  isSynced: boolean
  createdAt: number
  lastUsedAt: number | null
}

export const passkeysLimit = 20

/** All passkeys of a user, oldest first. */
export async function findPasskeys(db: Db, principalId: number): Promise<StoredPasskey[]> {
  const rows = await db
    .selectFrom('passkeys')
    .select(['id', 'name', 'synced', 'created_at as createdAt', 'last_used_at as lastUsedAt'])
    .where('principal_id', '=', principalId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(({ synced, ...passkey }) => ({ ...passkey, isSynced: synced === 1 }))
}

/** The key that checks a signature, and its owner. */
export interface HeldPasskey extends UserCredentials {
  id: string
  publicKey: string
  counter: number
  isSynced: boolean
}

export async function findPasskey(db: Db, id: string): Promise<HeldPasskey | undefined> {
  const row = (await selectPasskey(db, { id })).rows[0]
  return row && { ...row, enabled: row.enabled === 1, isSynced: row.synced === 1 }
}

const selectPasskey = prepared((db, passkey: { id: string }) =>
  selectCredentials(db)
    .innerJoin('passkeys', 'passkeys.principal_id', 'principals.id')
    .select(['passkeys.id', 'public_key as publicKey', 'counter', 'synced'])
    .where('passkeys.id', '=', unseen(passkey.id)),
)

/** Whether the user has a passkey of this host name, or of any if it is null. */
export async function hasPasskey(db: Db, principalId: number, rpId: string | null): Promise<boolean> {
  let found = db.selectFrom('passkeys').select('id').where('principal_id', '=', principalId)
  if (rpId !== null) found = found.where('rp_id', '=', rpId)
  return (await found.executeTakeFirst()) !== undefined
}

/** Returns false if any account has a passkey with this id. */
export async function insertPasskey(
  trx: Trx,
  passkey: {
    id: string
    principalId: number
    rpId: string
    name: string
    publicKey: string
    counter: number
    isSynced: boolean
    nowMilliseconds: number
  },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('passkeys')
    .values({
      id: passkey.id,
      principal_id: passkey.principalId,
      rp_id: passkey.rpId,
      name: passkey.name,
      public_key: passkey.publicKey,
      counter: passkey.counter,
      synced: passkey.isSynced ? 1 : 0,
      created_at: passkey.nowMilliseconds,
      last_used_at: null,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Returns false if the user has no passkey with this id. */
export async function updateName(
  trx: Trx,
  { principalId, id, name }: { principalId: number; id: string; name: string },
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('passkeys')
    .set('name', name)
    .where('id', '=', id)
    .where('principal_id', '=', principalId)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function hasPassword(db: Db, principalId: number): Promise<boolean> {
  const user = await db
    .selectFrom('users')
    .select('principal_id')
    .where('principal_id', '=', principalId)
    .where('password_hash', 'is not', null)
    .executeTakeFirst()
  return user !== undefined
}

/** The sign-in of a request: a session by the id that was presented, or a token family. */
export interface PresentedSignIn {
  id: string
  idHash: string | null
}

/**
 * The credential that was last given in this sign-in; undefined if the sign-in has ended, or if the passkey
 * was removed since.
 */
export async function basisOf(
  trx: Trx,
  principalId: number,
  { id, idHash }: PresentedSignIn,
): Promise<{ passkey: string } | { company: string } | { origin: PasswordOrigin } | undefined> {
  const given =
    idHash === null
      ? trx
          .selectFrom('refresh_families')
          .select(['passkey_id as passkey', sql.lit(0).as('byCompany')])
          .where('id', '=', id)
      : trx
          .selectFrom('session_ids')
          .select(['passkey_id as passkey', 'by_company as byCompany'])
          .where('id_hash', '=', idHash)
          .where('authenticated_at', '>', 0)
  const found = await given.executeTakeFirst()
  if (found === undefined) return undefined
  if (found.byCompany === 1) {
    return trx
      .selectFrom('company_accounts')
      .select('issuer as company')
      .where('principal_id', '=', principalId)
      .executeTakeFirst()
  }
  if (found.passkey !== null) return { passkey: found.passkey }
  const { origin, setBy } = await trx
    .selectFrom('users')
    .select(['password_origin as origin', 'password_set_by as setBy'])
    .where('principal_id', '=', principalId)
    .executeTakeFirstOrThrow()
  return { origin: origin === 'set' ? { setBy } : origin }
}

/**
 * Ends the sign-ins that the passkey began; those that it only confirmed are no longer recent. Returns the
 * ids of the ended ones.
 */
export async function endSignInsBy(trx: Trx, principalId: number, passkeyId: string): Promise<string[]> {
  const ended: string[] = []
  for (const table of ['sessions', 'refresh_families'] as const) {
    const deleted = await trx
      .deleteFrom(table)
      .where('principal_id', '=', principalId)
      .where('passkey_id', '=', passkeyId)
      .returning('id')
      .execute()
    ended.push(...deleted.map(({ id }) => id))
  }
  await trx
    .updateTable('session_ids')
    .set('authenticated_at', 0)
    .where('passkey_id', '=', passkeyId)
    .where('session_id', 'in', (eb) =>
      eb.selectFrom('sessions').select('id').where('principal_id', '=', principalId),
    )
    .execute()
  return ended
}

/** Whether the challenge was used: a repeated touch counts as a failed try. `takeTouch` decides. */
export async function hasServed(db: Db, challenge: Challenge): Promise<boolean> {
  return (await selectUsed(db, challenge)).rows.length === 1
}

const selectUsed = prepared((db, { nonce }: Challenge) =>
  db.selectFrom('used_challenges').select('nonce').where('nonce', '=', nonce),
)

/**
 * Uses the touch of a sign-in, once: of any number of simultaneous uses, exactly one succeeds. Returns the
 * passkey; null if the password was given instead. Throws `invalid-credentials` also if the passkey is gone,
 * or has meanwhile counted further (WebAuthn Level 3 §6.1.1).
 */
export async function takeTouch(
  trx: Trx,
  signIn: { principalId: number; touch: Touch | null; nowMilliseconds: number },
): Promise<string | null> {
  const { principalId, touch, nowMilliseconds } = signIn
  if (touch === null) return null
  const { passkeyId: id, counter, challenge } = touch
  const isFresh = await takeChallenge(trx, challenge)
  const isUsed = await countTouch(trx, { id, principalId, counter, nowMilliseconds })
  if (!isFresh || !isUsed) throw new Problem('invalid-credentials')
  return id
}

/** How many people have passkeys for other host names only, and how many of them have no password. */
export async function countLockedOut(db: Db, rpId: string): Promise<{ people: number; lockedOut: number }> {
  const counted = await db
    .selectFrom('users')
    .select((eb) => [
      eb.fn.countAll<number>().as('people'),
      eb.fn.count<number>('password_hash').as('others'),
    ])
    .where('principal_id', 'in', (eb) => eb.selectFrom('passkeys').select('principal_id'))
    .where('principal_id', 'not in', (eb) =>
      eb.selectFrom('passkeys').select('principal_id').where('rp_id', '=', rpId),
    )
    .executeTakeFirstOrThrow()
  const people = Number(counted.people)
  return { people, lockedOut: people - Number(counted.others) }
}

export const usedChallenges = removal({
  name: 'removeUsedChallenges',
  table: 'used_challenges',
  key: ['nonce'],
  since: 'expires_at',
  // An instance whose clock is behind may still accept the challenge.
  keptMilliseconds: () => clockDifferenceMilliseconds,
  batch: 50,
})
