import { type Kysely, sql, type Transaction } from 'kysely'
import { prepared, unseen, unseenNumber } from '../../db/prepared.ts'
import type { Database } from '../../db/tables.ts'
import { type CheckedCredentials, confirmCredentials } from '../accounts/store.ts'
import { rolesOf } from '../roles/store.ts'

export interface CreateRefreshFamilyInput extends CheckedCredentials {
  familyId: string
  tokenHash: string
  nowMilliseconds: number
  tokenExpiresAt: number
  familyExpiresAt: number
}

/** What an access token is signed from, after the write that allows it. */
export interface TokenGrant {
  principalId: number
  userName: string
  roles: string[]
  credentialsChangedAt: number
}

/** Makes a family with its first token. Throws `invalid-credentials` on the same condition as `createSession`. */
export async function createRefreshFamily(
  trx: Transaction<Database>,
  input: CreateRefreshFamilyInput,
): Promise<{ roles: string[] }> {
  const { tokenHash, familyId, principalId } = input
  await confirmCredentials(trx, input)
  await insertFamily(trx, input)
  const expiresAt = Math.min(input.tokenExpiresAt, input.familyExpiresAt)
  await insertToken(trx, { tokenHash, familyId, expiresAt })
  await endSurplusFamilies(trx, input)
  return { roles: await rolesOf(trx, principalId) }
}

const insertFamily = prepared((trx, family: CreateRefreshFamilyInput) =>
  trx.insertInto('refresh_families').values({
    id: family.familyId,
    principal_id: family.principalId,
    created_at: family.nowMilliseconds,
    expires_at: family.familyExpiresAt,
    revoked_at: null,
  }),
)

/** Families that a user can have at a time; a new one ends the oldest. */
export const familiesLimit = 100
/** Ended at one login; more than one only where the limit was higher before. */
const surplusAtOnce = 10

const endSurplusFamilies = prepared((trx, user: { principalId: number }) =>
  trx
    .deleteFrom('refresh_families')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('refresh_families')
        .select('id')
        .where('principal_id', '=', user.principalId)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(sql.lit(surplusAtOnce))
        .offset(sql.lit(familiesLimit)),
    ),
)

export interface RotateRefreshTokenInput {
  tokenHash: string
  newTokenHash: string
  nowMilliseconds: number
  /** End of the new token; the family's own end is kept. */
  tokenExpiresAt: number
}

/** `reused` when a used token came back: its family, and nothing else, has then been revoked. */
export type RotationRefusal = {
  refused: 'invalid-refresh-token'
  reused: { familyId: string; principalId: number } | null
}

/**
 * Uses a refresh token once, by one conditional UPDATE (RFC 9700 §4.14.2): of any number of simultaneous uses exactly
 * one gets the grant; each later one is refused and ends the family.
 */
export async function rotateRefreshToken(
  trx: Transaction<Database>,
  input: RotateRefreshTokenInput,
): Promise<TokenGrant | RotationRefusal> {
  const used = (await markUsed(trx, input)).rows[0]
  if (used === undefined) return refuseRotation(trx, input)
  const family = (await selectLiveFamily(trx, { familyId: used.family_id })).rows[0]
  if (family === undefined) return { refused: 'invalid-refresh-token', reused: null }
  const { expires_at, ...account } = family
  const expiresAt = Math.min(input.tokenExpiresAt, expires_at)
  await insertToken(trx, { tokenHash: input.newTokenHash, familyId: used.family_id, expiresAt })
  return { ...account, roles: await rolesOf(trx, account.principalId) }
}

const markUsed = prepared((trx, { tokenHash, nowMilliseconds }: RotateRefreshTokenInput) =>
  trx
    .updateTable('refresh_tokens')
    .set('used_at', nowMilliseconds)
    .where('token_hash', '=', tokenHash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', nowMilliseconds)
    .where(({ exists, selectFrom }) =>
      exists(
        // Of this token: SQLite would collect all live families for an IN.
        selectFrom('refresh_families')
          .innerJoin('principals', 'principals.id', 'refresh_families.principal_id')
          .select('refresh_families.id')
          .whereRef('refresh_families.id', '=', 'refresh_tokens.family_id')
          .where('refresh_families.revoked_at', 'is', null)
          .where('refresh_families.expires_at', '>', unseenNumber(nowMilliseconds))
          .where('principals.enabled', '=', sql.lit(1)),
      ),
    )
    .returning('family_id'),
)

/**
 * The family and its account, in one statement and so of one snapshot. A change of credentials since the UPDATE has
 * also revoked the family, so no grant carries the date of a change that it must not survive.
 */
const selectLiveFamily = prepared((trx, { familyId }: { familyId: string }) =>
  trx
    .selectFrom('refresh_families')
    .innerJoin('principals', 'principals.id', 'refresh_families.principal_id')
    .select([
      'principals.id as principalId',
      'principals.name as userName',
      'principals.credentials_changed_at as credentialsChangedAt',
      'refresh_families.expires_at',
    ])
    .where('refresh_families.id', '=', unseen(familyId))
    .where('refresh_families.revoked_at', 'is', null)
    .where('principals.enabled', '=', sql.lit(1)),
)

async function refuseRotation(
  trx: Transaction<Database>,
  input: RotateRefreshTokenInput,
): Promise<RotationRefusal> {
  const token = await trx
    .selectFrom('refresh_tokens')
    .innerJoin('refresh_families', 'refresh_families.id', 'refresh_tokens.family_id')
    .select(['family_id as familyId', 'used_at as usedAt', 'principal_id as principalId'])
    .where('token_hash', '=', input.tokenHash)
    .executeTakeFirst()
  if (token === undefined || token.usedAt === null) return { refused: 'invalid-refresh-token', reused: null }
  const { familyId, principalId } = token
  await revokeFamilies(trx, input.nowMilliseconds).where('id', '=', familyId).execute()
  return { refused: 'invalid-refresh-token', reused: { familyId, principalId } }
}

/** Revokes every family of the accounts. */
export async function revokeFamiliesOf(
  trx: Transaction<Database>,
  principalIds: number[],
  nowMilliseconds: number,
): Promise<void> {
  await revokeFamilies(trx, nowMilliseconds).where('principal_id', 'in', principalIds).execute()
}

/** The first revocation of a family stays. */
function revokeFamilies(trx: Transaction<Database>, nowMilliseconds: number) {
  return trx
    .updateTable('refresh_families')
    .set('revoked_at', nowMilliseconds)
    .where('revoked_at', 'is', null)
}

/** The family of a token, used or not: what the refresh limit counts by. */
export async function findFamilyId(db: Kysely<Database>, tokenHash: string): Promise<string | undefined> {
  return (await selectFamilyId(db, { tokenHash })).rows[0]?.family_id
}

const selectFamilyId = prepared((db, { tokenHash }: { tokenHash: string }) =>
  db.selectFrom('refresh_tokens').select('family_id').where('token_hash', '=', tokenHash),
)

const insertToken = prepared((trx, token: { tokenHash: string; familyId: string; expiresAt: number }) =>
  trx.insertInto('refresh_tokens').values({
    token_hash: token.tokenHash,
    family_id: token.familyId,
    expires_at: token.expiresAt,
    used_at: null,
  }),
)

/**
 * Deletes at most `limit` tokens of ended families, then as many ended families without tokens, and returns the number
 * of rows. Together with its family, the tokens of a month of refreshes would be a batch without bound.
 */
export async function removeEndedFamilies(
  trx: Transaction<Database>,
  { nowMilliseconds: now, limit }: { nowMilliseconds: number; limit: number },
): Promise<number> {
  const tokens = trx
    .selectFrom('refresh_families')
    .innerJoin('refresh_tokens', 'refresh_tokens.family_id', 'refresh_families.id')
    .select('token_hash')
    .where('refresh_families.expires_at', '<=', now)
    .limit(limit)
  const families = trx
    .selectFrom('refresh_families')
    .select('id')
    .where('expires_at', '<=', now)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('refresh_tokens')
            .select('token_hash')
            .whereRef('refresh_tokens.family_id', '=', 'refresh_families.id'),
        ),
      ),
    )
    .limit(limit)
  const used = await trx.deleteFrom('refresh_tokens').where('token_hash', 'in', tokens).executeTakeFirst()
  const ended = await trx.deleteFrom('refresh_families').where('id', 'in', families).executeTakeFirst()
  return Number(used.numDeletedRows + ended.numDeletedRows)
}
