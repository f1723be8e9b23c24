import { sql } from '#kysely'
import type { Db, Trx } from '../../db/tables.ts'
import { opaqueIdPattern } from '../../ids.ts'

const tables = { session: 'sessions', tokens: 'refresh_families' } as const
const kinds = ['session', 'tokens'] as const
export type SignInKind = (typeof kinds)[number]

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
  db: Db,
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
    .select(['id', 'kind', 'userAgent', 'createdAt', 'lastUsedAt'])
    .orderBy('lastUsedAt', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute()
  return { signIns, totalCount: Number(count) }
}

function sessionsOf(db: Db, { principalId, nowMilliseconds: now, ...whose }: SignInsOf) {
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

function familiesOf(db: Db, { principalId, nowMilliseconds: now }: SignInsOf) {
  return db
    .selectFrom('refresh_families')
    .innerJoin('principals', 'principals.id', 'principal_id')
    .select(['refresh_families.id', 'user_agent as userAgent', 'refresh_families.created_at as createdAt'])
    .select(['last_used_at as lastUsedAt', sql.lit<SignInKind>('tokens').as('kind')])
    .where('principal_id', '=', principalId)
    .whereRef('refresh_families.credentials_epoch', '=', 'principals.credentials_epoch')
    .where('token_expires_at', '>', now)
}

/** Returns the kind that it was; undefined if the user has no sign-in with this id in this epoch. */
export async function deleteSignIn(
  trx: Trx,
  { principalId, id, epoch }: { principalId: number; id: string; epoch: number },
): Promise<SignInKind | undefined> {
  // PostgreSQL accepts no text with a NUL.
  if (!opaqueIdPattern.test(id)) return undefined
  for (const kind of kinds) {
    const { numDeletedRows } = await trx
      .deleteFrom(tables[kind])
      .where('id', '=', id)
      .where('principal_id', '=', principalId)
      .where('credentials_epoch', '=', epoch)
      .executeTakeFirst()
    if (numDeletedRows === 1n) return kind
  }
  return undefined
}

/** Whether the user has any sign-in of this epoch besides this one. */
export async function hasOtherSignIns(
  trx: Trx,
  { principalId, id, epoch }: { principalId: number; id: string; epoch: number },
): Promise<boolean> {
  for (const kind of kinds) {
    const other = await trx
      .selectFrom(tables[kind])
      .select('id')
      .where('principal_id', '=', principalId)
      .where('credentials_epoch', '=', epoch)
      .where('id', '!=', id)
      .executeTakeFirst()
    if (other !== undefined) return true
  }
  return false
}

/** Moves the session or family from one epoch to another. Returns false if it is not in the first. */
export async function keepSignIn(
  trx: Trx,
  { id, from, to }: { id: string; from: number; to: number },
): Promise<boolean> {
  for (const kind of kinds) {
    const { numUpdatedRows } = await trx
      .updateTable(tables[kind])
      .set('credentials_epoch', to)
      .where('id', '=', id)
      .where('credentials_epoch', '=', from)
      .executeTakeFirst()
    if (numUpdatedRows === 1n) return true
  }
  return false
}
