import { type RawBuilder, type Selectable, type SqlBool, sql } from '#kysely'
import type { Permission } from '../../caller/permissions.ts'
import { keptUntilCommit, withinTime } from '../../db/engine.ts'
import type { Database, Db, RuleColumns, Trx } from '../../db/tables.ts'
import { hasVersion } from '../../http/preconditions.ts'
import { Problem } from '../../problems/problems.ts'
import { nobodyMay } from '../conditions.ts'
import { awaitingApproval, transitions } from '../order.ts'
import { type Rules, ruleColumns, ruleNames, rules, rulesOf, type SentRules, storedRules } from '../rules.ts'

export interface PolicyRow extends Rules {
  /** Ten-thousandths. */
  from: number
}

/** A row as a client sends it. */
export type SentRow = SentRules & Pick<PolicyRow, 'from'>

export interface Policy {
  version: number
  /** In ascending order. The first starts at 0. */
  rows: PolicyRow[]
}

const columns = ['from_e4', 'version', ...ruleNames.map((name) => rules[name].column)] as const

export async function findPolicy(db: Db): Promise<Policy> {
  return toPolicy(await db.selectFrom('approval_policy').select(columns).execute())
}

/**
 * Removes the policy by one conditional DELETE. Undefined if nothing was deleted, because it has another
 * version or another write came first. A new order gets the old policy or the next, never none.
 */
export async function takePolicy(trx: Trx, acceptedVersions: number[] | null): Promise<Policy | undefined> {
  const taken = await trx
    .deleteFrom('approval_policy')
    .where(hasVersion(acceptedVersions))
    .returning(columns)
    .execute()
  return taken.length === 0 ? undefined : toPolicy(taken)
}

export async function putPolicy(trx: Trx, { version, rows }: Policy): Promise<void> {
  const stored = rows.map((row) => ({ from_e4: row.from, ...storedRules(row), version }))
  await trx.insertInto('approval_policy').values(stored).execute()
}

/** The roles stay until the transaction ends. Throws `unknown-role` unless all of them exist. */
export async function requireRolesOf(trx: Trx, rows: readonly PolicyRow[]): Promise<void> {
  const named = new Set(rows.flatMap(({ role }) => role ?? []))
  if (named.size === 0) return
  const { rows: known } = await sql<{ name: string }>`
    select name from roles where name in (${sql.join([...named])}) ${keptUntilCommit(trx, 'key')}`.execute(
    trx,
  )
  const unknown = [...named.difference(new Set(known.map(({ name }) => name)))]
  if (unknown.length === 0) return
  throw new Problem('unknown-role', { detail: `There is no role ${unknown.join(', ')}.` })
}

type Row = Selectable<Database['approval_policy']>

/** There is a row from the first migration on. */
function toPolicy(stored: Row[]): Policy {
  const [first] = stored as [Row, ...Row[]]
  const rows = stored
    .toSorted((one, other) => one.from_e4 - other.from_e4)
    .map((row) => ({ from: row.from_e4, ...rulesOf(row) }))
  return { version: first.version, rows }
}

/** An account that could approve an order. */
export interface Approver {
  id: number
  /** Whether it could be excluded as the creator of an order. */
  creates: boolean
}

/** Five approvers and a creator: no row needs more accounts. */
const approversLimit = 6

/** Enabled accounts that could approve an order of these rules now, by role, kind and passkeys alone. */
export async function findApprovers(
  db: Db,
  { services, role, passkey }: Pick<Rules, 'services' | 'role' | 'passkey'>,
  nowMilliseconds: number,
): Promise<Approver[]> {
  const holdsRole = sql`exists (select 1 from principal_roles as held
    where held.principal_id = principals.id and held.role = ${role})`
  const hasPasskey = sql`exists (select 1 from passkeys where passkeys.principal_id = principals.id)`
  const { rows } = await sql<{ id: number; creates: number }>`
    select id, case when ${creates(sql`principals.id`)}
      or exists (select 1 from clients where owner_id = principals.id and ${creates(sql`clients.principal_id`)})
      then 1 else 0 end as creates
    from (select distinct principals.id as id from role_permissions
      join principal_roles on principal_roles.role = role_permissions.role
      join principals on principals.id = principal_roles.principal_id
      left join clients on clients.principal_id = principals.id
      where permission = ${sql.lit(transitions.approve.permission)} and enabled = 1
        and (kind = 'user' or ${services ? sql`coalesce(ends_at > ${nowMilliseconds}, true)` : sql`false`})
        and ${role === null ? sql`true` : holdsRole}
        and ${passkey ? hasPasskey : sql`true`}
      limit ${approversLimit}) as principals`.execute(db)
  return rows.map(({ id, creates }) => ({ id, creates: creates === 1 }))
}

const creating: Permission = 'Orders.Create'

function creates(account: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql`exists (select 1 from principal_roles
    join role_permissions on role_permissions.role = principal_roles.role
    where principal_id = ${account} and permission = ${sql.lit(creating)})`
}

/** How many pending orders nobody could approve at this time. */
export async function countStranded(
  snapshot: Db,
  { nowMilliseconds }: { nowMilliseconds: number },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from orders
    where status = ${awaitingApproval} and ${withinTime(snapshot, 'orders.number')}
      and ${nobodyMay('approve', nowMilliseconds)}`.execute(snapshot)
  return Number(rows[0]?.count)
}

/** How many orders wait under each set of rules. */
export async function countPendingByRules(snapshot: Db): Promise<{ rules: Rules; orders: number }[]> {
  const { rows } = await sql<RuleColumns & { count: number }>`
    select ${ruleColumns}, count(*) as count from orders
    where status = ${awaitingApproval} and ${withinTime(snapshot, 'orders.number')}
    group by ${ruleColumns}`.execute(snapshot)
  return rows.map((row) => ({ rules: rulesOf(row), orders: Number(row.count) }))
}
