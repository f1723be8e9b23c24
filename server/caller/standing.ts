import { type RawBuilder, type SqlBool, sql } from '#kysely'
import { asSeen, keptUntilCommit } from '../db/engine.ts'
import type { Db, Trx } from '../db/tables.ts'
import { bearerChallenge, Problem } from '../problems/problems.ts'
import type { Permission } from './permissions.ts'
import type { Person, Standing } from './principal.ts'

/** The caller, as a write knows it. */
export interface Acting {
  /** Null for a command line, which has no account. */
  byId: number | null
  standing?: Standing | undefined
}

/**
 * Whether the account is enabled now, has the credential of the request, and holds the permission. The guard
 * may remember all three for five minutes, and may have admitted the request long before its write. On
 * PostgreSQL a change of the account waits until the transaction ends, so the log has the two in order.
 */
export function stands(trx: Db, acting: Acting, permission: Permission): RawBuilder<SqlBool> {
  return sql`exists (select 1 from principals
    where ${isKnown(acting)} and ${holds(permission)} and ${isAsSeen(trx)} ${keptUntilCommit(trx)})`
}

/** Taking a role away changes this date. */
const isAsSeen = (trx: Db) => asSeen(trx, 'principals', 'credentials_changed_at')

/** The permission that deputies must hold themselves. All others are those of the absent person. */
export const neededOfDeputies: Permission = 'Orders.Read'

/** Like `stands`, but in the right of a person who is absent now and has the caller as deputy. */
export function standsInFor(
  trx: Db,
  acting: Acting & { nowMilliseconds: number },
  absentId: number,
  permission: Permission,
): RawBuilder<SqlBool> {
  return sql`${stands(trx, acting, neededOfDeputies)} and exists (select 1
    ${fromAbsent(acting, permission)} and principals.id = ${absentId} and ${isAsSeen(trx)} ${keptUntilCommit(trx)})`
}

/** Someone who asks what they may do now. */
export interface Caller {
  byId: number | null
  nowMilliseconds: number
}

/**
 * In whose right the caller may act now, in the order to try: their own, if they hold the permission and
 * their credential allows it, then that of absent people, by id.
 */
export async function authoritiesOf(
  db: Db,
  caller: Caller,
  permission: Permission,
  isAllowed = true,
): Promise<Person[]> {
  const { byId } = caller
  const { rows } = await sql<Person>`select id, name, full_name as "fullName" from (
    select id, name from principals where id = ${byId} and ${isAllowed ? holds(permission) : sql`false`}
    union all
    select principals.id, name ${fromAbsent(caller, permission)}
      and exists (select 1 from principals where id = ${byId} and ${holds(neededOfDeputies)})
    ) as authorities left join users on principal_id = id order by case id when ${byId} then 0 else 1 end, id`.execute(
    db,
  )
  return rows
}

/** Absent people who hold the permission, and whom the caller stands in for now. */
export function fromAbsent(
  { byId, nowMilliseconds: now }: Caller,
  permission: Permission,
): RawBuilder<unknown> {
  return sql`from principals join absences on absences.principal_id = principals.id
    where deputy_id = ${byId} and from_at <= ${now} and until_at > ${now} and enabled = 1
    and ${holds(permission)}`
}

/**
 * Throws what the guard would answer now: `authentication-required`, `permission-denied`. Without a
 * permission, only the credential is checked.
 */
export async function requireStanding(trx: Trx, acting: Acting, permission?: Permission): Promise<void> {
  if (acting.byId === null) return
  const { rows } = await sql<{
    holds: boolean | number
  }>`select ${permission === undefined ? sql`true` : holds(permission)} as holds
    from principals where ${isKnown(acting)} ${keptUntilCommit(trx)}`.execute(trx)
  if (rows[0] === undefined) throw unauthenticated(acting.standing?.via === 'bearer')
  if (permission !== undefined && !rows[0].holds) throw permissionDenied(permission)
}

function isKnown({ byId, standing }: Acting): RawBuilder<SqlBool> {
  const account = sql`principals.id = ${byId} and enabled = 1`
  if (standing === undefined) return sql`false`
  if (standing.via === 'bearer') {
    return sql`${account} and credentials_changed_at = ${standing.credentialsChangedAt}`
  }
  return sql`${account} and exists (select 1 from sessions where sessions.id = ${standing.sessionId}
    and sessions.credentials_epoch = principals.credentials_epoch)`
}

/** Literal: a value bound in a join would make SQLite plan the statement again (`unseen` in prepared.ts). */
export function holds(permission: Permission): RawBuilder<SqlBool> {
  return sql`exists (select 1 from principal_roles
    join role_permissions on role_permissions.role = principal_roles.role
    where principal_id = principals.id and permission = ${sql.lit(permission)})`
}

/** RFC 6750 §3: an invalid bearer gets an error code, a missing credential does not. */
const invalidTokenChallenge = { 'www-authenticate': `${bearerChallenge}, error="invalid_token"` }

export function unauthenticated(isBadToken: boolean): Problem {
  return new Problem('authentication-required', isBadToken ? { headers: invalidTokenChallenge } : {})
}

export function permissionDenied(permission: Permission): Problem {
  return new Problem('permission-denied', {
    detail: `The permission ${permission} is needed.`,
    members: { permission },
  })
}
