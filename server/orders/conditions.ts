import { type RawBuilder, type SqlBool, sql } from '#kysely'
import type { Permission } from '../caller/permissions.ts'
import type { Person, Principal } from '../caller/principal.ts'
import { authoritiesOf, holds, neededOfDeputies } from '../caller/standing.ts'
import type { Db } from '../db/tables.ts'
import type { ProblemCode } from '../problems/catalogue.ts'
import {
  type ColumnName,
  columnOf,
  isDecision,
  type LeftStatus,
  orderStatus,
  type Transition,
  type TransitionName,
  transitions,
} from './order.ts'

/** The caller of a transition. */
export interface Asking {
  byId: number
  isService: boolean
  /** The absent person in whose right the caller would act, if not in their own. */
  for?: Person | undefined
  /** Whether the decision is signed with a passkey; undefined to ask whether the caller could sign it. */
  isSigned?: boolean | undefined
}

/** The caller, once for each authority they may use. */
export function inEach<Caller extends Asking>(caller: Caller, authorities: readonly Person[]): Caller[] {
  return authorities.map((person) => (person.id === caller.byId ? caller : { ...caller, for: person }))
}

/** Whose right is used. */
export function authorityOf(asking: Asking): number {
  return asking.for?.id ?? asking.byId
}

/** The caller, once for each authority by which they may make the transition, if the order allows it. */
export async function rightsOf(
  db: Db,
  name: TransitionName,
  { id: byId, kind, permissions }: Principal,
  nowMilliseconds: number,
): Promise<Asking[]> {
  const { permission } = transitions[name]
  const isAllowed = permissions.has(permission)
  const authorities = await authoritiesOf(db, { byId, nowMilliseconds }, permission, isAllowed)
  return inEach({ byId, isService: kind === 'client' }, authorities)
}

/** The same in SQL: the values of one caller, or the columns of a table of many. */
interface Asker {
  by: RawBuilder<unknown>
  /** Whose right is used. */
  right: RawBuilder<unknown>
  /** Another account that counts as creator: the present owner of a service, else that of the right. */
  other: RawBuilder<unknown>
  isService: RawBuilder<unknown>
  canSign: RawBuilder<unknown>
}

export function askerOf(asking: Asking): Asker {
  const { byId, isService } = asking
  const right = sql`${authorityOf(asking)}`
  const owner = sql`(select owner_id from clients where principal_id = ${byId})`
  const canSign = canSignAs(asking)
  return { by: sql`${byId}`, right, other: isService ? owner : right, isService: sql.lit(isService), canSign }
}

interface Condition {
  /** The problem when it does not hold. */
  refusal: ProblemCode
  /** Over the columns of `orders`. */
  holds(asker: Asker): RawBuilder<SqlBool>
}

/** The problem if an order is not in a state that the transition leaves. */
export const otherState: Record<LeftStatus, ProblemCode> = { [orderStatus.Pending]: 'order-not-pending' }

const byCreator: Condition = {
  refusal: 'not-the-creator',
  holds: ({ by }) => sql`created_by_id = ${by}`,
}

/** Whether the role that the order needs is held now by the person in whose right it would be approved. */
export function holdsRole({ right }: Pick<Asker, 'right'>): RawBuilder<SqlBool> {
  return sql`exists (select 1 from principal_roles
    where principal_id = ${right} and role = orders.role_needed)`
}

/**
 * Whether the caller, or the person in whose right they act, counts as creator. A service counts as its
 * owner: one that approves as its present owner, and one that created the order as its owner at that time.
 */
function isCreator({ by, other }: Asker): RawBuilder<SqlBool> {
  const same = sql`(${by}, ${other})`
  return sql`coalesce(created_by_id in ${same} or created_by_owner_id in ${same}, false)`
}

/** The caller signs, also for an absent person. A service has no passkeys. */
function canSignAs({ byId, isService, isSigned }: Asking): RawBuilder<SqlBool> {
  if (isService) return sql`false`
  if (isSigned !== undefined) return sql.lit(isSigned)
  return sql`exists (select 1 from passkeys where principal_id = ${byId})`
}

const byApprover: readonly Condition[] = [
  {
    refusal: 'service-approval',
    holds: ({ isService }) => sql`(service_approval = 1 or not ${isService})`,
  },
  {
    refusal: 'self-approval',
    holds: (asker) => sql`(self_approval = 1 or not ${isCreator(asker)})`,
  },
  {
    refusal: 'already-approved-by-you',
    holds: ({ by, right }) => sql`(approvals_given = 0 or not exists (select 1 from order_approvals
      where order_id = orders.id and account_id in (${by}, ${right})))`,
  },
  {
    refusal: 'role-needed',
    holds: (asker) => sql`(role_needed is null or role_held = 1 or approvals_given + 1 < approvals_needed
      or ${holdsRole(asker)})`,
  },
  {
    refusal: 'passkey-needed',
    holds: ({ canSign }) => sql`(passkey_needed = 0 or ${canSign})`,
  },
]

/**
 * The conditions of a transition. The UPDATE requires all of them. A refusal and `mayApprove` name the first
 * that does not hold.
 */
export function conditionsOf(name: TransitionName): readonly Condition[] {
  const { from, by } = transitions[name]
  const inState = { refusal: otherState[from[0]], holds: () => sql<SqlBool>`status in (${sql.join(from)})` }
  const conditions: Record<Transition['by'], readonly Condition[]> = {
    anyone: [inState],
    creator: [byCreator, inState],
    approver: [inState, ...byApprover],
  }
  return conditions[by]
}

/**
 * Whether the caller may make the transition in any of these rights. Never null, so that a filter can negate
 * it.
 */
export function mayDecide(name: TransitionName, askings: readonly Asking[]): RawBuilder<SqlBool> {
  const mayAs = (asking: Asking) => sql<SqlBool>`(${allHold(name, askerOf(asking))})`
  return askings.length === 0 ? sql`false` : sql`(${sql.join(askings.map(mayAs), sql` or `)})`
}

function allHold(name: TransitionName, asker: Asker): RawBuilder<SqlBool> {
  return sql`${sql.join(
    conditionsOf(name).map(({ holds }) => holds(asker)),
    sql` and `,
  )}`
}

/**
 * Whether no account could make the transition at this time, in its own right or as a deputy, by the same
 * conditions as `mayDecide`. Never null. The accounts are listed once for all orders.
 */
export function nobodyMay(name: TransitionName, nowMilliseconds: number): RawBuilder<SqlBool> {
  const column = (key: string) => sql.ref(`asker.${key}`)
  const asker: Asker = {
    by: column('by_id'),
    right: column('right_id'),
    other: column('other_id'),
    isService: sql`asker.is_service = 1`,
    canSign: sql`asker.can_sign = 1`,
  }
  return sql`not exists (with askers as materialized (${everyAsker(transitions[name].permission, nowMilliseconds)})
    select 1 from askers as asker where ${allHold(name, asker)})`
}

/** Each enabled account with the permission, and each deputy in the right of an absent person who has it. */
function everyAsker(permission: Permission, now: number): RawBuilder<unknown> {
  const canSign = (id: string) =>
    sql`case when exists (select 1 from passkeys where principal_id = ${sql.ref(id)}) then 1 else 0 end`
  return sql`select principals.id as by_id, principals.id as right_id,
      case kind when 'client' then owner_id else principals.id end as other_id,
      case kind when 'client' then 1 else 0 end as is_service, ${canSign('principals.id')} as can_sign
    from principals left join clients on clients.principal_id = principals.id
    where enabled = 1 and coalesce(ends_at > ${now}, true) and ${holds(permission)}
    union all
    select deputy_id, principals.id, principals.id, 0, ${canSign('deputy_id')}
    from absences join principals on absences.principal_id = principals.id
    where from_at <= ${now} and until_at > ${now} and enabled = 1 and ${holds(permission)}
      and exists (select 1 from principals where id = deputy_id and enabled = 1 and ${holds(neededOfDeputies)})`
}

/**
 * The latest time up to now at which an absence began or ended, or a service ended. Since then, `nobodyMay`
 * has not changed without a write, so its answers of then can be kept.
 */
export async function lastTurn(db: Db, nowMilliseconds: number): Promise<number> {
  const last = (column: string, table: string) =>
    sql`select max(${sql.ref(column)}) as at from ${sql.table(table)} where ${sql.ref(column)} <= ${nowMilliseconds}`
  const turns = [last('from_at', 'absences'), last('until_at', 'absences'), last('ends_at', 'clients')]
  const { rows } = await sql<{ at: number | null }>`
    select max(at) as at from (${sql.join(turns, sql` union all `)}) as turns`.execute(db)
  return Number(rows[0]?.at ?? 0)
}

/** The SQL of a column, for a reader with these rights to approve. */
export function expressionOf(name: ColumnName, askings: readonly Asking[] = []): RawBuilder<unknown> {
  return name === 'mayApprove' ? mayDecide('approve', askings) : sql.raw(columnOf(name).expression)
}

export const signatureRefusals: ProblemCode[] = ['decision-signature-invalid', 'passkey-counter']

/** Every reason why a transition is refused. */
export function refusalsOf(name: TransitionName): ProblemCode[] {
  const refusals = conditionsOf(name).map(({ refusal }) => refusal)
  const ofSignature: ProblemCode[] = isDecision(name) ? signatureRefusals : []
  return ['order-not-found', ...refusals, ...ofSignature, 'concurrency-conflict', 'precondition-failed']
}
