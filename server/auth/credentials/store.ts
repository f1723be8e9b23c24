import { type Kysely, sql, type Transaction } from '#kysely'
import type { Database } from '../../db/tables.ts'
import { opaqueIdPattern } from '../../ids.ts'

export type SignInKind = 'session' | 'tokens'

/** A session or a token family that works. Instants in milliseconds. */
export interface StoredSignIn {
  id: string
  kind: SignInKind
  userAgent: string | null
  createdAt: number
  lastUsedAt: number
}

export interface SignInsOf {
  principalId: number
  nowMilliseconds: number
  sessionIdleTtlMilliseconds: number
}

/** A page of sign-ins, the most recently used first, and the total count. */
export async function findSignIns(
  db: Kysely<Database>,
  whose: SignInsOf,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ signIns: StoredSignIn[]; totalCount: number }> {
  const all = () => sessionsOf(db, whose).unionAll(familiesOf(db, whose))
  const { count } = await db
    .selectFrom(all().as('sign_ins'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const signIns = await db
    .selectFrom(all().as('sign_ins'))
    .selectAll()
    .orderBy('lastUsedAt', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute()
  return { signIns, totalCount: Number(count) }
}

function sessionsOf(db: Kysely<Database>, { principalId, nowMilliseconds: now, ...whose }: SignInsOf) {
  return db
    .selectFrom('sessions')
    .innerJoin('principals', 'principals.id', 'principal_id')
    .select(['sessions.id', 'user_agent as userAgent', 'sessions.created_at as createdAt'])
    .select(['last_seen_at as lastUsedAt', sql.lit<SignInKind>('session').as('kind')])
    .where('principal_id', '=', principalId)
    .whereRef('sessions.credentials_epoch', '=', 'principals.credentials_epoch')
    .where('last_seen_at', '>', now - whose.sessionIdleTtlMilliseconds)
    .where('absolute_expires_at', '>', now)
}

function familiesOf(db: Kysely<Database>, { principalId, nowMilliseconds: now }: SignInsOf) {
  return db
    .selectFrom('refresh_families')
    .innerJoin('principals', 'principals.id', 'principal_id')
    .select(['refresh_families.id', 'user_agent as userAgent', 'refresh_families.created_at as createdAt'])
    .select(['last_used_at as lastUsedAt', sql.lit<SignInKind>('tokens').as('kind')])
    .where('principal_id', '=', principalId)
    .whereRef('refresh_families.credentials_epoch', '=', 'principals.credentials_epoch')
    .where('token_expires_at', '>', now)
}

/** Returns what it was; undefined if the user has no sign-in with this id. */
export async function deleteSignIn(
  trx: Transaction<Database>,
  { principalId, id }: { principalId: number; id: string },
): Promise<SignInKind | undefined> {
  // PostgreSQL accepts no text with a NUL.
  if (!opaqueIdPattern.test(id)) return undefined
  for (const [table, kind] of [
    ['sessions', 'session'],
    ['refresh_families', 'tokens'],
  ] as const) {
    const { numDeletedRows } = await trx
      .deleteFrom(table)
      .where('id', '=', id)
      .where('principal_id', '=', principalId)
      .executeTakeFirst()
    if (numDeletedRows === 1n) return kind
  }
  return undefined
}

/** Moves the session or family from an epoch that has ended to the next one; false if it is not there. */
export async function keepSignIn(
  trx: Transaction<Database>,
  { principalId, id, endedEpoch }: { principalId: number; id: string; endedEpoch: number },
): Promise<boolean> {
  for (const table of ['sessions', 'refresh_families'] as const) {
    const { numUpdatedRows } = await trx
      .updateTable(table)
      .set('credentials_epoch', endedEpoch + 1)
      .where('id', '=', id)
      .where('principal_id', '=', principalId)
      .where('credentials_epoch', '=', endedEpoch)
      .executeTakeFirst()
    if (numUpdatedRows === 1n) return true
  }
  return false
}
