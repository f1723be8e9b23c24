import { type RawBuilder, type SqlBool, sql } from '#kysely'
import type { Person, Principal } from '../caller/principal.ts'
import { authoritiesOf } from '../caller/standing.ts'
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

interface Condition {
  /** The problem when it does not hold. */
  refusal: ProblemCode
  /** Over the columns of `orders`. */
  holds(asking: Asking): RawBuilder<SqlBool>
}

/** The problem if an order is not in a state that the transition leaves. */
export const otherState: Record<LeftStatus, ProblemCode> = { [orderStatus.Pending]: 'order-not-pending' }

const byCreator: Condition = {
  refusal: 'not-the-creator',
  holds: ({ byId }) => sql`created_by_id = ${byId}`,
}

/** Whether the role that the order needs is held now by the person in whose right it would be approved. */
export function holdsRole(asking: Asking): RawBuilder<SqlBool> {
  return sql`exists (select 1 from principal_roles
    where principal_id = ${authorityOf(asking)} and role = orders.role_needed)`
}

/**
 * Whether the caller, or the person in whose right they act, counts as creator. A service counts as its
 * owner: one that approves as its present owner, and one that created the order as its owner at that time.
 */
function isCreator(asking: Asking): RawBuilder<SqlBool> {
  const { byId, isService } = asking
  const other = isService
    ? sql`(select owner_id from clients where principal_id = ${byId})`
    : authorityOf(asking)
  const same = sql`(${byId}, ${other})`
  return sql`coalesce(created_by_id in ${same} or created_by_owner_id in ${same}, false)`
}

/** The caller signs, also for an absent person. A service has no passkeys. */
function canSign({ byId, isService, isSigned }: Asking): RawBuilder<SqlBool> {
  if (isService) return sql`false`
  if (isSigned !== undefined) return sql.lit(isSigned)
  return sql`exists (select 1 from passkeys where principal_id = ${byId})`
}

const byApprover: readonly Condition[] = [
  {
    refusal: 'service-approval',
    holds: ({ isService }) => (isService ? sql`service_approval = 1` : sql`true`),
  },
  {
    refusal: 'self-approval',
    holds: (asking) => sql`(self_approval = 1 or not ${isCreator(asking)})`,
  },
  {
    refusal: 'already-approved-by-you',
    holds: (asking) => sql`(approvals_given = 0 or not exists (select 1 from order_approvals
      where order_id = orders.id and account_id in (${asking.byId}, ${authorityOf(asking)})))`,
  },
  {
    refusal: 'role-needed',
    holds: (asking) => sql`(role_needed is null or role_held = 1 or approvals_given + 1 < approvals_needed
      or ${holdsRole(asking)})`,
  },
  {
    refusal: 'passkey-needed',
    holds: (asking) => sql`(passkey_needed = 0 or ${canSign(asking)})`,
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
  const mayAs = (asking: Asking) =>
    sql<SqlBool>`(${sql.join(
      conditionsOf(name).map(({ holds }) => holds(asking)),
      sql` and `,
    )})`
  return askings.length === 0 ? sql`false` : sql`(${sql.join(askings.map(mayAs), sql` or `)})`
}

/** The SQL of a column, for a reader with these rights to approve. */
export function expressionOf(name: ColumnName, askings: readonly Asking[] = []): RawBuilder<unknown> {
  return name === 'mayApprove' ? mayDecide('approve', askings) : sql.raw(columnOf(name).expression)
}

/** Every reason why a transition is refused. */
export function refusalsOf(name: TransitionName): ProblemCode[] {
  const refusals = conditionsOf(name).map(({ refusal }) => refusal)
  const ofSignature: ProblemCode[] = isDecision(name) ? ['decision-signature-invalid'] : []
  return ['order-not-found', ...refusals, ...ofSignature, 'concurrency-conflict', 'precondition-failed']
}
