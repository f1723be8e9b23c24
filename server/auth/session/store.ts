import type { Kysely, Transaction } from 'kysely'
import { prepared, unseen } from '../../db/prepared.ts'
import type { Database } from '../../db/tables.ts'
import { Problem } from '../../http/problems.ts'
import { type CheckedCredentials, confirmCredentials } from '../accounts/store.ts'
import { rolesOf } from '../roles/store.ts'

/** A session, found by the hash of a presented id. Instants in milliseconds. */
export interface StoredSession {
  sessionId: string
  principalId: number
  roles: string[]
  antiforgeryBinding: string
  lastSeenAt: number
  absoluteExpiresAt: number
  /** End of the presented id's grace period, or null while it is current. */
  retiredAt: number | null
}

export async function findSession(db: Kysely<Database>, idHash: string): Promise<StoredSession | undefined> {
  const row = (await selectSession(db, { idHash })).rows[0]
  return row && { ...row, roles: JSON.parse(row.roles) }
}

const selectSession = prepared((db, { idHash }: { idHash: string }) =>
  db
    .selectFrom('session_ids')
    .innerJoin('sessions', 'sessions.id', 'session_ids.session_id')
    .select([
      'sessions.id as sessionId',
      'sessions.principal_id as principalId',
      'sessions.roles',
      'sessions.antiforgery_binding as antiforgeryBinding',
      'sessions.last_seen_at as lastSeenAt',
      'sessions.absolute_expires_at as absoluteExpiresAt',
      'session_ids.retired_at as retiredAt',
    ])
    .where('session_ids.id_hash', '=', unseen(idHash)),
)

export interface CreateSessionInput extends CheckedCredentials {
  sessionId: string
  idHash: string
  /** Binding of the antiforgery cookie that the request carried, if it carried one. */
  offeredBinding: string | null
  /** Used when nothing was offered, or when another session holds what was offered. */
  freshBinding: string
  /** Id of the session that the login came with, which it ends. */
  replacedIdHash: string | null
  nowMilliseconds: number
  absoluteExpiresAt: number
  userAgent: string | null
}

/**
 * Makes a session and ends the one that the login came with. Throws `invalid-credentials` if the credentials are no
 * longer those that were checked: a login that races with a disable makes nothing.
 */
export async function createSession(
  trx: Transaction<Database>,
  input: CreateSessionInput,
): Promise<{ roles: string[] }> {
  await confirmCredentials(trx, input)
  if (input.replacedIdHash !== null) await endSession(trx, { idHash: input.replacedIdHash })
  const roles = await rolesOf(trx, input.principalId)
  const session = {
    id: input.sessionId,
    principal_id: input.principalId,
    roles: JSON.stringify(roles),
    created_at: input.nowMilliseconds,
    last_seen_at: input.nowMilliseconds,
    absolute_expires_at: input.absoluteExpiresAt,
    user_agent: input.userAgent,
  }
  const insert = (binding: string) =>
    trx
      .insertInto('sessions')
      .values({ ...session, antiforgery_binding: binding })
      .onConflict((conflict) => conflict.column('antiforgery_binding').doNothing())
      .executeTakeFirstOrThrow()
  const taken =
    input.offeredBinding !== null && (await insert(input.offeredBinding)).numInsertedOrUpdatedRows === 1n
  if (!taken) await insert(input.freshBinding)
  await insertSessionId(trx, input.sessionId, input.idHash)
  await endSurplusSessions(trx, input.principalId)
  return { roles }
}

/** Sessions that a user can have at a time; a new one ends the one that was not used for longest. */
export const sessionsLimit = 100
/** Ended at one login; more than one only where the limit was higher before. */
const surplusAtOnce = 50

async function endSurplusSessions(trx: Transaction<Database>, principalId: number): Promise<void> {
  await trx
    .deleteFrom('sessions')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('sessions')
        .select('id')
        .where('principal_id', '=', principalId)
        .orderBy('last_seen_at', 'desc')
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(surplusAtOnce)
        .offset(sessionsLimit),
    )
    .execute()
}

async function insertSessionId(trx: Transaction<Database>, sessionId: string, idHash: string): Promise<void> {
  await trx
    .insertInto('session_ids')
    .values({ id_hash: idHash, session_id: sessionId, retired_at: null })
    .execute()
}

export interface RefreshSessionInput {
  sessionId: string
  presentedIdHash: string
  newIdHash: string
  nowMilliseconds: number
  /** When the presented id stops serving. An earlier end is kept. */
  retireAt: number
}

export interface RefreshedSession {
  email: string
  roles: string[]
  absoluteExpiresAt: number
}

/** Re-reads the roles and adds a new id. Throws `authentication-required` when the session has ended meanwhile. */
export async function refreshSession(
  trx: Transaction<Database>,
  input: RefreshSessionInput,
): Promise<RefreshedSession> {
  const session = await trx
    .updateTable('sessions')
    .set('last_seen_at', input.nowMilliseconds)
    .where('id', '=', input.sessionId)
    .returning(['principal_id', 'absolute_expires_at'])
    .executeTakeFirst()
  if (session === undefined) throw new Problem('authentication-required')
  const retired = await trx
    .updateTable('session_ids')
    .set((eb) => ({ retired_at: eb.fn.coalesce('retired_at', eb.val(input.retireAt)) }))
    .where('id_hash', '=', input.presentedIdHash)
    .where((eb) => eb.or([eb('retired_at', 'is', null), eb('retired_at', '>', input.nowMilliseconds)]))
    .executeTakeFirst()
  if (retired.numUpdatedRows === 0n) throw new Problem('authentication-required')
  const roles = await rolesOf(trx, session.principal_id)
  await trx
    .updateTable('sessions')
    .set('roles', JSON.stringify(roles))
    .where('id', '=', input.sessionId)
    .execute()
  await insertSessionId(trx, input.sessionId, input.newIdHash)
  const { email } = await trx
    .selectFrom('users')
    .select('email')
    .where('principal_id', '=', session.principal_id)
    .executeTakeFirstOrThrow()
  return { email, roles, absoluteExpiresAt: session.absolute_expires_at }
}

/** Ends the session of the presented id, with all its ids. Ending what is gone changes nothing. */
export async function endSession(trx: Transaction<Database>, input: { idHash: string }): Promise<void> {
  await trx
    .deleteFrom('sessions')
    .where('id', 'in', (eb) =>
      eb.selectFrom('session_ids').select('session_id').where('id_hash', '=', input.idHash),
    )
    .execute()
}

/** Slides the idle end of a session; written at most once a minute. */
export async function touchSession(
  trx: Transaction<Database>,
  input: { sessionId: string; nowMilliseconds: number },
): Promise<void> {
  await trx
    .updateTable('sessions')
    .set('last_seen_at', input.nowMilliseconds)
    .where('id', '=', input.sessionId)
    .where('last_seen_at', '<', input.nowMilliseconds)
    .execute()
}

/** Ends every session of the accounts. */
export async function endSessionsOf(trx: Transaction<Database>, principalIds: number[]): Promise<void> {
  await trx.deleteFrom('sessions').where('principal_id', 'in', principalIds).execute()
}

/**
 * Deletes at most `limit` sessions unused for too long, as many at their absolute end, and as many ids that others have
 * replaced. Returns the number of rows.
 */
export async function removeEndedSessions(
  trx: Transaction<Database>,
  input: { nowMilliseconds: number; sessionIdleTtlMilliseconds: number; limit: number },
): Promise<number> {
  const { nowMilliseconds: now, sessionIdleTtlMilliseconds, limit } = input
  const sessions = () => trx.selectFrom('sessions').select('id').limit(limit)
  const ids = trx.selectFrom('session_ids').select('id_hash').where('retired_at', '<=', now).limit(limit)
  const deletions = [
    trx
      .deleteFrom('sessions')
      .where('id', 'in', sessions().where('last_seen_at', '<=', now - sessionIdleTtlMilliseconds)),
    trx.deleteFrom('sessions').where('id', 'in', sessions().where('absolute_expires_at', '<=', now)),
    trx.deleteFrom('session_ids').where('id_hash', 'in', ids),
  ]
  let removed = 0n
  for (const deletion of deletions) removed += (await deletion.executeTakeFirst()).numDeletedRows
  return Number(removed)
}
