import { sql } from '#kysely'
import type { Touch } from '../../../caller/touch.ts'
import { clockDifferenceMilliseconds } from '../../../clock.ts'
import type { Config } from '../../../config.ts'
import { prepared, unseen, unseenNumber } from '../../../db/prepared.ts'
import type { Db, Trx } from '../../../db/tables.ts'
import { Problem } from '../../../problems/problems.ts'
import { removal } from '../../../upkeep.ts'
import { rolesOf } from '../../accounts/roles/store.ts'
import { type CheckedCredentials, confirmCredentials, lockEpoch } from '../../accounts/store.ts'
import { emailOf } from '../../accounts/users/store.ts'
import { takeTouch } from '../passkeys/store.ts'
import { retiredIdGraceMilliseconds } from './cookies.ts'
import { type Authenticated, insertSessionId, makeRoomForId, type ReplacedId, retireId } from './ids/store.ts'

/** A session that its account has not ended. Instants in milliseconds. */
export interface StandingSession {
  roles: string[]
  lastSeenAt: number
  absoluteExpiresAt: number
}

/** A session found by the hash of a presented id. */
export interface StoredSession extends StandingSession {
  sessionId: string
  principalId: number
  userName: string
  fullName: string | null
  timeZone: string | null
  antiforgeryBinding: string
  /** When the password or a passkey was last given; each id has its own record of that. */
  authenticatedAt: number
  /** The passkey that was given then; null for the password and a company account. */
  passkeyId: string | null
  byCompany: boolean
  /** When the presented id stops working; null until a refresh replaces it. */
  retiredAt: number | null
}

/** Also undefined if the account is disabled or has ended its sessions. */
export async function findSession(db: Db, idHash: string): Promise<StoredSession | undefined> {
  const row = (await selectSession(db, { idHash })).rows[0]
  return row && { ...row, roles: JSON.parse(row.roles), byCompany: row.byCompany === 1 }
}

const selectSession = prepared((db, { idHash }: { idHash: string }) =>
  db
    .selectFrom('session_ids')
    .innerJoin('sessions', 'sessions.id', 'session_ids.session_id')
    .innerJoin('principals', 'principals.id', 'sessions.principal_id')
    .innerJoin('users', 'users.principal_id', 'principals.id')
    .select([
      'sessions.id as sessionId',
      'sessions.principal_id as principalId',
      'principals.name as userName',
      'users.full_name as fullName',
      'users.time_zone as timeZone',
      'sessions.roles',
      'sessions.antiforgery_binding as antiforgeryBinding',
      'sessions.last_seen_at as lastSeenAt',
      'sessions.absolute_expires_at as absoluteExpiresAt',
      'session_ids.authenticated_at as authenticatedAt',
      'session_ids.passkey_id as passkeyId',
      'session_ids.retired_at as retiredAt',
      'session_ids.by_company as byCompany',
    ])
    .where('session_ids.id_hash', '=', unseen(idHash))
    .whereRef('sessions.credentials_epoch', '=', 'principals.credentials_epoch')
    .where('principals.enabled', '=', sql.lit(1)),
)

/** Finds a session by its own id. Undefined in the same cases as `findSession`. */
export async function findStandingSession(db: Db, sessionId: string): Promise<StandingSession | undefined> {
  const row = await db
    .selectFrom('sessions')
    .innerJoin('principals', 'principals.id', 'principal_id')
    .select(['roles', 'last_seen_at as lastSeenAt', 'absolute_expires_at as absoluteExpiresAt'])
    .where('sessions.id', '=', sessionId)
    .whereRef('sessions.credentials_epoch', '=', 'principals.credentials_epoch')
    .where('enabled', '=', 1)
    .executeTakeFirst()
  return row && { ...row, roles: JSON.parse(row.roles) }
}

type Lifetime = Pick<Config, 'sessionIdleTtlSeconds'>

/** Whether the session was unused for too long, or is past its absolute end. */
export function isOver(
  { lastSeenAt, absoluteExpiresAt }: StandingSession,
  now: number,
  { sessionIdleTtlSeconds }: Lifetime,
): boolean {
  return lastSeenAt + sessionIdleTtlSeconds * 1000 <= now || absoluteExpiresAt <= now
}

/** Whether the presented id works, too. */
export function isUsable(session: StoredSession, now: number, lifetime: Lifetime): boolean {
  return !isRetired(session.retiredAt, now) && !isOver(session, now, lifetime)
}

/** An end further away than the whole grace period was written before the clock was set back. */
function isRetired(retiredAt: number | null, now: number): boolean {
  if (retiredAt === null) return false
  return retiredAt <= now || retiredAt > now + retiredIdGraceMilliseconds + clockDifferenceMilliseconds
}

export interface CreateSessionInput extends CheckedCredentials, NewSession {
  /** Null if the password was checked. */
  touch: Touch | null
}

/** A session that a sign-in begins. */
export interface NewSession extends Lifetime {
  principalId: number
  sessionId: string
  idHash: string
  /** Binding of the antiforgery cookie of the request, if it had one. */
  offeredBinding: string | null
  /** Used if there is no other binding, or another session has it. */
  freshBinding: string
  /** Id that the sign-in request presented; its session ends. */
  replacedIdHash: string | null
  nowMilliseconds: number
  absoluteExpiresAt: number
  userAgent: string | null
}

/**
 * Creates a session and ends the one that the request came with. Throws `invalid-credentials` if the
 * credentials have changed since the check, so a sign-in that races with disabling the account creates
 * nothing. Tokens of the page that signed in stay valid: the session takes over their binding.
 */
export async function createSession(
  trx: Trx,
  input: CreateSessionInput,
): Promise<{ roles: string[]; binding: string }> {
  const credentialsEpoch = await confirmCredentials(trx, input, input.nowMilliseconds)
  const passkeyId = await takeTouch(trx, input)
  const authenticatedAt = input.nowMilliseconds
  return insertNewSession(trx, { ...input, credentialsEpoch, passkeyId, authenticatedAt })
}

/** The part that all ways to sign in share. The caller holds the lock of the account. */
export async function insertNewSession(
  trx: Trx,
  input: NewSession & Authenticated & { credentialsEpoch: number },
): Promise<{ roles: string[]; binding: string }> {
  const bindings = await bindingsFor(trx, input)
  if (input.replacedIdHash !== null) await endSessionOf(trx, input.replacedIdHash)
  const roles = await rolesOf(trx, input.principalId)
  const session = { ...input, rolesJson: JSON.stringify(roles) }
  let binding = input.freshBinding
  for (binding of bindings) {
    if ((await insertSession(trx, { ...session, binding })).numAffectedRows === 1n) break
  }
  await insertSessionId(trx, { ...input, number: 1 })
  await endSurplusSessions(trx, input)
  return { roles, binding }
}

/**
 * The bindings that a new session may take, best first: that of the usable session that it replaces, of the
 * antiforgery cookie, of the expired session, a new one. A session that its account has ended leaves none.
 */
async function bindingsFor(trx: Trx, input: NewSession): Promise<string[]> {
  const { replacedIdHash, offeredBinding, freshBinding, nowMilliseconds } = input
  const replaced = replacedIdHash === null ? undefined : await findSession(trx, replacedIdHash)
  const offered = [offeredBinding ?? []].flat()
  if (replaced === undefined) return [...offered, freshBinding]
  const { antiforgeryBinding } = replaced
  return isUsable(replaced, nowMilliseconds, input)
    ? [antiforgeryBinding, ...offered, freshBinding]
    : [...offered, antiforgeryBinding, freshBinding]
}

interface InsertedSession extends NewSession {
  credentialsEpoch: number
  passkeyId: string | null
  rolesJson: string
  binding: string
}

/** Inserts nothing if another session has the binding. */
const insertSession = prepared((trx, session: InsertedSession) =>
  trx
    .insertInto('sessions')
    .values({
      id: session.sessionId,
      principal_id: session.principalId,
      passkey_id: session.passkeyId,
      credentials_epoch: session.credentialsEpoch,
      antiforgery_binding: session.binding,
      roles: session.rolesJson,
      created_at: session.nowMilliseconds,
      last_seen_at: session.nowMilliseconds,
      absolute_expires_at: session.absoluteExpiresAt,
      user_agent: session.userAgent,
      issued_ids: 1,
    })
    .onConflict((conflict) => conflict.column('antiforgery_binding').doNothing()),
)

/** How many sessions a user can have; a new one then ends the least recently used. */
export const sessionsLimit = 100

const endSurplusSessions = prepared((trx, user: { principalId: number }) =>
  trx
    .deleteFrom('sessions')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('sessions')
        .select('id')
        .where('principal_id', '=', unseenNumber(user.principalId))
        .orderBy('last_seen_at', 'desc')
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(sql.lit(1))
        .offset(sql.lit(sessionsLimit)),
    ),
)

/** As stored with the presented id, or new if a credential was just given again. */
export interface RefreshSessionInput extends Authenticated, ReplacedId {
  principalId: number
  newIdHash: string
  /** Whether the request counts as use of the session. */
  isUse: boolean
}

export interface RefreshedSession extends StandingSession {
  email: string
}

/** Reads the roles again and adds a new id. Throws `authentication-required` if the session has ended. */
export async function refreshSession(trx: Trx, input: RefreshSessionInput): Promise<RefreshedSession> {
  const { principalId, sessionId } = input
  const epoch = await lockEpoch(trx, principalId)
  const roles = await rolesOf(trx, principalId)
  const session = await trx
    .updateTable('sessions')
    .set((eb) => ({
      ...(input.isUse && { last_seen_at: input.nowMilliseconds }),
      roles: JSON.stringify(roles),
      issued_ids: eb('issued_ids', '+', 1),
    }))
    .where('id', '=', sessionId)
    .where('credentials_epoch', '=', epoch)
    .returning(['issued_ids', 'last_seen_at as lastSeenAt', 'absolute_expires_at as absoluteExpiresAt'])
    .executeTakeFirst()
  if (session === undefined || !(await retireId(trx, input))) throw new Problem('authentication-required')
  await makeRoomForId(trx, input)
  const { issued_ids: number, ...ends } = session
  await insertSessionId(trx, { ...input, idHash: input.newIdHash, number })
  return { email: await emailOf(trx, principalId), roles, ...ends }
}

/**
 * Refreshes a session after the password or a passkey was given again. Only the new id counts as a recent
 * sign-in (ASVS 5.0 7.2.4). Throws `invalid-credentials` under the same condition as `createSession`.
 */
export async function confirmSession(
  trx: Trx,
  input: Omit<RefreshSessionInput, 'passkeyId' | 'byCompany'> & CheckedCredentials & { touch: Touch | null },
): Promise<RefreshedSession> {
  await confirmCredentials(trx, input)
  return refreshSession(trx, { ...input, passkeyId: await takeTouch(trx, input) })
}

/**
 * Ends the session with all its ids, even if refreshes have meanwhile pushed out the presented id. Ending a
 * session that is gone changes nothing.
 */
export async function endSession(trx: Trx, input: { sessionId: string }): Promise<void> {
  await trx.deleteFrom('sessions').where('id', '=', input.sessionId).execute()
}

async function endSessionOf(trx: Trx, idHash: string): Promise<void> {
  await trx
    .deleteFrom('sessions')
    .where('id', 'in', (eb) =>
      eb.selectFrom('session_ids').select('session_id').where('id_hash', '=', idHash),
    )
    .execute()
}

/** Postpones the idle end of a session; written at most once a minute. */
export async function touchSession(
  trx: Trx,
  input: { sessionId: string; nowMilliseconds: number },
): Promise<void> {
  await trx
    .updateTable('sessions')
    .set('last_seen_at', input.nowMilliseconds)
    .where('id', '=', input.sessionId)
    .where('last_seen_at', '<', input.nowMilliseconds)
    .execute()
}

/**
 * Deletes sessions with all their ids, long after their last use. This includes sessions past their absolute
 * end, because they can no longer be used.
 */
export const endedSessions = removal({
  name: 'removeEndedSessions',
  table: 'sessions',
  key: ['id'],
  since: 'last_seen_at',
  // A day longer than they work, because a page that is still open may sign in again.
  keptMilliseconds: ({ sessionIdleTtlSeconds }) => sessionIdleTtlSeconds * 1000 + 24 * 60 * 60_000,
  // Few, because each session has up to eight ids.
  batch: 3,
})
