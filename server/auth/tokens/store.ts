import { type Kysely, sql, type Transaction } from 'kysely'
import { prepared, preparedWrite, unseen, unseenNumber } from '../../db/prepared.ts'
import type { Database } from '../../db/tables.ts'
import { rolesOf } from '../accounts/store.ts'
import { confirmCredentials } from '../session/store.ts'

export interface CreateRefreshFamilyInput {
  familyId: string
  tokenHash: string
  principalId: number
  /** The credentials as they were when the password was checked. */
  passwordHash: string
  credentialsChangedAt: number
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

/** Makes a family with its first token, on the same condition as a session; undefined when it does not hold. */
export async function createRefreshFamily(
  trx: Transaction<Database>,
  input: CreateRefreshFamilyInput,
): Promise<TokenGrant | undefined> {
  if (!(await confirmCredentials(trx, input))) return undefined
  await insertFamily(trx, input)
  await insertToken(
    trx,
    input.tokenHash,
    input.familyId,
    Math.min(input.tokenExpiresAt, input.familyExpiresAt),
  )
  await endSurplusFamilies(trx, input)
  return readGrant(trx, input.principalId)
}

const insertFamily = preparedWrite((trx, family: CreateRefreshFamilyInput) =>
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
/** Ended at one login. Only a database that had more before holds so many. */
const surplusAtOnce = 10

const endSurplusFamilies = preparedWrite((trx, user: { principalId: number }) =>
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

export type Rotation =
  | { outcome: 'rotated'; grant: TokenGrant }
  /** A used token came back: its family, and nothing else, has been revoked. */
  | { outcome: 'reused'; familyId: string; principalId: number }
  | { outcome: 'refused' }

/**
 * Uses a refresh token once, by one conditional UPDATE (RFC 9700 §4.14.2): of any number of simultaneous uses exactly
 * one is `rotated`; each later one is `reused` and ends the family.
 */
export async function rotateRefreshToken(
  trx: Transaction<Database>,
  input: RotateRefreshTokenInput,
): Promise<Rotation> {
  const [used] = await markUsed(trx, input.tokenHash, input.nowMilliseconds)
  if (used === undefined) return nameRefusal(trx, input)
  const [family] = await selectLiveFamily(trx, used.family_id)
  if (family === undefined) return { outcome: 'refused' }
  await insertToken(
    trx,
    input.newTokenHash,
    used.family_id,
    Math.min(input.tokenExpiresAt, family.expires_at),
  )
  const { principalId, userName, credentialsChangedAt } = family
  const roles = await rolesOf(trx, principalId)
  return { outcome: 'rotated', grant: { principalId, userName, roles, credentialsChangedAt } }
}

const markUsed = prepared((trx, tokenHash: string, nowMilliseconds: number) =>
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
 * The family and its account in one statement, and so in one snapshot: a change of credentials that was committed
 * since the UPDATE has also revoked the family, and the grant never carries the date of a change that it must not
 * survive.
 */
const selectLiveFamily = prepared((trx, familyId: string) =>
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

async function nameRefusal(trx: Transaction<Database>, input: RotateRefreshTokenInput): Promise<Rotation> {
  const token = await trx
    .selectFrom('refresh_tokens')
    .innerJoin('refresh_families', 'refresh_families.id', 'refresh_tokens.family_id')
    .select(['family_id as familyId', 'used_at as usedAt', 'principal_id as principalId'])
    .where('token_hash', '=', input.tokenHash)
    .executeTakeFirst()
  if (token === undefined || token.usedAt === null) return { outcome: 'refused' }
  await trx
    .updateTable('refresh_families')
    .set('revoked_at', input.nowMilliseconds)
    .where('id', '=', token.familyId)
    .where('revoked_at', 'is', null)
    .execute()
  return { outcome: 'reused', familyId: token.familyId, principalId: token.principalId }
}

/** The family of a token, used or not: what the refresh limit counts by. */
export async function findFamilyId(db: Kysely<Database>, tokenHash: string): Promise<string | undefined> {
  const [row] = await selectFamilyId(db, tokenHash)
  return row?.family_id
}

const selectFamilyId = prepared((db, tokenHash: string) =>
  db.selectFrom('refresh_tokens').select('family_id').where('token_hash', '=', tokenHash),
)

async function insertToken(
  trx: Transaction<Database>,
  tokenHash: string,
  familyId: string,
  expiresAt: number,
): Promise<void> {
  await insertUnused(trx, { tokenHash, familyId, expiresAt })
}

const insertUnused = preparedWrite((trx, token: { tokenHash: string; familyId: string; expiresAt: number }) =>
  trx.insertInto('refresh_tokens').values({
    token_hash: token.tokenHash,
    family_id: token.familyId,
    expires_at: token.expiresAt,
    used_at: null,
  }),
)

async function readGrant(trx: Transaction<Database>, principalId: number): Promise<TokenGrant> {
  const principal = await trx
    .selectFrom('principals')
    .select(['name', 'credentials_changed_at'])
    .where('id', '=', principalId)
    .executeTakeFirstOrThrow()
  return {
    principalId,
    userName: principal.name,
    roles: await rolesOf(trx, principalId),
    credentialsChangedAt: principal.credentials_changed_at,
  }
}
