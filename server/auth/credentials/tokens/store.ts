import { sql } from '#kysely'
import type { Touch } from '../../../caller/touch.ts'
import { prepared, unseen, unseenNumber } from '../../../db/prepared.ts'
import type { Db, Trx } from '../../../db/tables.ts'
import { removal } from '../../../upkeep.ts'
import { rolesOf } from '../../accounts/roles/store.ts'
import { type CheckedCredentials, confirmCredentials, endRequestsOf } from '../../accounts/store.ts'
import { takeTouch } from '../passkeys/store.ts'

export interface CreateRefreshFamilyInput extends CheckedCredentials {
  /** Null if the password was checked. */
  touch: Touch | null
  familyId: string
  tokenHash: string
  nowMilliseconds: number
  /** When the token expires if it is not used, unless the family ends earlier. */
  tokenExpiresAt: number
  familyExpiresAt: number
  userAgent: string | null
}

/** The facts for an access token, from the write that allows it. */
export interface TokenGrant {
  principalId: number
  userName: string
  roles: string[]
  /** When the family was made. */
  authenticatedAt: number
  credentialsChangedAt: number
}

/**
 * Creates a family with its first token. Throws `invalid-credentials` under the same condition as
 * `createSession`.
 */
export async function createRefreshFamily(
  trx: Trx,
  input: CreateRefreshFamilyInput,
): Promise<{ roles: string[] }> {
  const { principalId, tokenExpiresAt, familyExpiresAt } = input
  const credentialsEpoch = await confirmCredentials(trx, input, input.nowMilliseconds)
  const passkeyId = await takeTouch(trx, input)
  const expiresAt = Math.min(tokenExpiresAt, familyExpiresAt)
  await insertFamily(trx, { ...input, credentialsEpoch, passkeyId, tokenExpiresAt: expiresAt })
  await endSurplusFamilies(trx, input)
  return { roles: await rolesOf(trx, principalId) }
}

interface NewFamily extends CreateRefreshFamilyInput {
  credentialsEpoch: number
  passkeyId: string | null
}

const insertFamily = prepared((trx, family: NewFamily) =>
  trx.insertInto('refresh_families').values({
    id: family.familyId,
    principal_id: family.principalId,
    passkey_id: family.passkeyId,
    credentials_epoch: family.credentialsEpoch,
    generation: 1,
    token_hash: family.tokenHash,
    token_expires_at: family.tokenExpiresAt,
    created_at: family.nowMilliseconds,
    last_used_at: family.nowMilliseconds,
    expires_at: family.familyExpiresAt,
    user_agent: family.userAgent,
  }),
)

/** How many families a user can have; a new one then ends the oldest. */
export const familiesLimit = 100

const endSurplusFamilies = prepared((trx, user: { principalId: number }) =>
  trx
    .deleteFrom('refresh_families')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('refresh_families')
        .select('id')
        .where('principal_id', '=', unseenNumber(user.principalId))
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(sql.lit(1))
        .offset(sql.lit(familiesLimit)),
    ),
)

/** The facts that a refresh token carries. */
export interface RefreshToken {
  text: string
  hash: string
  familyId: string
  /** Starts at 1 and rises by one with each rotation. */
  generation: number
  /** The tag is genuine: this service issued the token, for this family and generation. */
  isGenuine: boolean
}

/** Only for a token that was issued: its tag is genuine, or it is the current token of its family. */
export interface RotateRefreshTokenInput extends Pick<RefreshToken, 'familyId' | 'generation' | 'hash'> {
  newTokenHash: string
  nowMilliseconds: number
  /** When the new token expires if it is not used, unless the family ends earlier. */
  tokenExpiresAt: number
}

/** `reused` names the family that a used token has just ended; null if none. */
export type RotationRefusal = {
  refused: 'invalid-refresh-token'
  reused: { familyId: string; principalId: number } | null
}

/**
 * Uses a refresh token once, by one conditional UPDATE (RFC 9700 §4.14.2). Of any number of simultaneous
 * uses, exactly one rotates it, and each later one ends the family. A request for the successor that the
 * token already has repeats the first use: it gets the same answer until the successor is used.
 */
export async function rotateRefreshToken(
  trx: Trx,
  input: RotateRefreshTokenInput,
): Promise<TokenGrant | RotationRefusal> {
  const isRotated = (await rotate(trx, input)).numAffectedRows === 1n
  const account = (await selectAccount(trx, input)).rows[0]
  if (account !== undefined) return { ...account, roles: await rolesOf(trx, account.principalId) }
  const [ended] = isRotated ? [] : (await endReusedFamily(trx, input)).rows
  if (ended !== undefined) {
    await endRequestsOf(trx, { principalId: ended.principal_id, signInId: input.familyId })
  }
  return {
    refused: 'invalid-refresh-token',
    reused: ended === undefined ? null : { familyId: input.familyId, principalId: ended.principal_id },
  }
}

const rotate = prepared((trx, token: RotateRefreshTokenInput) =>
  trx
    .updateTable('refresh_families')
    .set((eb) => ({
      generation: eb('generation', '+', 1),
      token_hash: token.newTokenHash,
      last_used_at: token.nowMilliseconds,
      token_expires_at: eb
        .case()
        .when('expires_at', '<', token.tokenExpiresAt)
        .then(eb.ref('expires_at'))
        .else(eb.val(token.tokenExpiresAt))
        .end(),
    }))
    .where('id', '=', token.familyId)
    .where('token_hash', '=', token.hash)
    .where('token_expires_at', '>', unseenNumber(token.nowMilliseconds))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('principals')
          .select('principals.id')
          .whereRef('principals.id', '=', 'refresh_families.principal_id')
          .whereRef('principals.credentials_epoch', '=', 'refresh_families.credentials_epoch')
          .where('principals.enabled', '=', sql.lit(1)),
      ),
    ),
)

/**
 * Reads the account of the family that now has the new token, in one statement and so from one snapshot. A
 * change of credentials since the UPDATE has also ended the family, so no grant carries the date of a change
 * that should have ended it.
 */
const selectAccount = prepared((trx, token: RotateRefreshTokenInput) =>
  trx
    .selectFrom('refresh_families')
    .innerJoin('principals', 'principals.id', 'refresh_families.principal_id')
    .select([
      'principals.id as principalId',
      'principals.name as userName',
      'principals.credentials_changed_at as credentialsChangedAt',
      'refresh_families.created_at as authenticatedAt',
    ])
    .where('refresh_families.id', '=', unseen(token.familyId))
    .where('refresh_families.token_hash', '=', unseen(token.newTokenHash))
    .where('refresh_families.token_expires_at', '>', unseenNumber(token.nowMilliseconds))
    .whereRef('refresh_families.credentials_epoch', '=', 'principals.credentials_epoch')
    .where('principals.enabled', '=', sql.lit(1)),
)

/** Ends the family if its current token is newer than this one. */
const endReusedFamily = prepared((trx, token: RotateRefreshTokenInput) =>
  trx
    .deleteFrom('refresh_families')
    .where('id', '=', token.familyId)
    .where('generation', '>', token.generation)
    .returning('principal_id'),
)

/** Ends a family and returns whose it was; null if there is none. */
export async function endFamily(
  trx: Trx,
  { familyId }: { familyId: string },
): Promise<{ familyId: string; principalId: number } | null> {
  const ended = await trx
    .deleteFrom('refresh_families')
    .where('id', '=', familyId)
    .returning('principal_id')
    .executeTakeFirst()
  return ended === undefined ? null : { familyId, principalId: ended.principal_id }
}

/** Whether it is the current token of its family, whatever key made its tag. */
export async function isServingToken(db: Db, token: RefreshToken): Promise<boolean> {
  return (await selectServing(db, token)).rows.length === 1
}

const selectServing = prepared((db, token: RefreshToken) =>
  db
    .selectFrom('refresh_families')
    .select('id')
    .where('id', '=', token.familyId)
    .where('token_hash', '=', token.hash),
)

export const endedFamilies = removal({
  name: 'removeEndedFamilies',
  table: 'refresh_families',
  key: ['id'],
  since: 'token_expires_at',
  batch: 30,
})
