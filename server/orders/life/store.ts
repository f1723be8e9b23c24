import { type RawBuilder, type SqlBool, sql } from '#kysely'
import type { Standing } from '../../caller/principal.ts'
import { type Acting, stands, standsInFor } from '../../caller/standing.ts'
import { prepared, preparedFor } from '../../db/prepared.ts'
import type { Db, RuleColumns, Trx } from '../../db/tables.ts'
import { type AcceptedVersions, hasVersion } from '../../http/preconditions.ts'
import type { ProblemCode } from '../../problems/catalogue.ts'
import { Problem } from '../../problems/problems.ts'
import { type Asking, askerOf, authorityOf, conditionsOf, holdsRole } from '../conditions.ts'
import type { Decided } from '../event.ts'
import { type OrderStatus, type TransitionName, transitions } from '../order.ts'
import { type Rules, ruleColumns, rulesOf } from '../rules.ts'
import { lockOrder } from '../store.ts'

/** The facts that decide whether the caller may make a transition of an order. */
export interface Decision {
  /** The number of the order. */
  number: number
  version: number
  status: OrderStatus
  customer: string
  /** Ten-thousandths. */
  total: number
  /** The service that created it; null if a person did. */
  proposedBy: string | null
  /** Ids of the order that it replaces, and of that which replaces it. */
  replaces: string | null
  replacedBy: string | null
  rules: Rules
  modifiedBy: string | null
  /** Undefined if the caller may. */
  refusal: ProblemCode | undefined
}

export async function findDecision(
  db: Db,
  id: string,
  name: TransitionName,
  asking: Asking,
): Promise<Decision | undefined> {
  return (await findDecisions(db, [id], name, asking)).get(id)
}

/** By the ids of the orders that exist. */
export async function findDecisions(
  db: Db,
  ids: readonly string[],
  name: TransitionName,
  asking: Asking,
): Promise<Map<string, Decision>> {
  const conditions = conditionsOf(name)
  const holding = conditions.map(
    ({ holds }, index) => sql`${holds(askerOf(asking))} as ${sql.ref(`holds_${index}`)}`,
  )
  const { rows } = await sql<
    RuleColumns & Omit<Decision, 'rules' | 'refusal'> & Record<`holds_${number}`, unknown> & { id: string }
  >`
    select id, number, version, status, customer, total_e4 as total, modified_by as "modifiedBy",
      replaces, replaced_by as "replacedBy", ${ruleColumns}, ${sql.join(holding)},
      case when created_by_id in (select principal_id from clients) then created_by end as "proposedBy"
    from orders where id in (${sql.join(ids)})`.execute(db)
  const decisions = rows.map((row): [string, Decision] => {
    const { id, number, version, status, customer, total, modifiedBy, proposedBy, replaces, replacedBy } = row
    const refusal = conditions.find((_, index) => !row[`holds_${index}`])?.refusal
    const facts = { number, version, status, customer, total: Number(total), modifiedBy, proposedBy }
    const replacement = { replaces, replacedBy }
    return [id, { ...facts, ...replacement, rules: rulesOf(row), refusal }]
  })
  return new Map(decisions)
}

interface Changed extends Decided {
  status: number
  /** The role that the rules of the order ask for, if the authority that was used holds it. */
  role: string | null
}

interface Change {
  id: string
  acceptedVersions: AcceptedVersions
  actor: Acting & Asking & { by: string; nowMilliseconds: number; timeZone: string | null }
}

/**
 * Makes a transition by one conditional UPDATE, which checks the id, the state, the version and the caller.
 * An approval is counted, and changes the state only if no more are needed. Undefined if nothing was changed.
 * Throws `already-approved-by-you` if someone takes part in two approvals at the same moment.
 */
export async function changeStatus(
  trx: Trx,
  name: TransitionName,
  { id, acceptedVersions, actor }: Change,
): Promise<Changed | undefined> {
  const { by, byId, isService, nowMilliseconds, timeZone, standing } = actor
  const shape: Shape = {
    name,
    isService,
    via: standing?.via,
    isDeputy: actor.for !== undefined,
    isSigned: actor.isSigned === true,
    versions: null,
  }
  const values = {
    ...{ id, by, byId, nowMilliseconds, timeZone, version: acceptedVersions?.[0] ?? 0 },
    absentId: actor.for?.id ?? 0,
    approver: actor.for === undefined ? by : `${by} for ${actor.for.name}`,
    sessionId: standing?.via === 'session' ? standing.sessionId : '',
    credentialsChangedAt: standing?.via === 'bearer' ? standing.credentialsChangedAt : 0,
  }
  // A list of versions can have any length, so its statement is not kept.
  const { rows } =
    acceptedVersions === null || acceptedVersions.length === 1
      ? await updateStatus(trx, { ...shape, versions: acceptedVersions && 'one' }, values)
      : await trx.executeQuery(statusUpdate(trx, { ...shape, versions: acceptedVersions }, values).compile())
  const [changed] = rows
  if (changed !== undefined && transitions[name].by === 'approver') await insertApproval(trx, id, actor)
  return changed
}

/** The choices that the text of the UPDATE depends on. */
interface Shape {
  name: TransitionName
  isService: boolean
  via: Standing['via'] | undefined
  isDeputy: boolean
  isSigned: boolean
  /** The versions of If-Match. Null allows any, and `one` is the `version` of the values. */
  versions: number[] | 'one' | null
}

interface Values {
  id: string
  version: number
  by: string
  byId: number
  absentId: number
  /** As `approved_by` names it: `bo for ann`. */
  approver: string
  nowMilliseconds: number
  timeZone: string | null
  sessionId: string
  credentialsChangedAt: number
}

const updateStatus = preparedFor(statusUpdate)

function statusUpdate(db: Db, shape: Shape, values: Values) {
  const { id, version, by, nowMilliseconds, timeZone } = values
  const { to, by: whom, permission } = transitions[shape.name]
  const asking = askingOf(shape, values)
  const asker = askerOf(asking)
  return db
    .updateTable('orders')
    .set((eb) => ({
      version: eb('version', '+', 1),
      updated_at: nowMilliseconds,
      updated_at_time_zone: timeZone,
      modified_by: by,
      ...(whom === 'approver' ? countApproval(to, holdsRole(asker), values.approver) : { status: to }),
    }))
    .where('id', '=', id)
    .where(hasVersion(shape.versions === 'one' ? [version] : shape.versions))
    .where((eb) => eb.and(conditionsOf(shape.name).map(({ holds }) => holds(asker))))
    .where(
      asking.for === undefined
        ? stands(db, asking, permission)
        : standsInFor(db, asking, asking.for.id, permission),
    )
    .returning(['id', 'version', 'customer', 'total_e4 as total', 'status'])
    .returning(sql<string | null>`case when ${holdsRole(asker)} then role_needed end`.as('role'))
}

function askingOf({ isService, via, isDeputy, isSigned }: Shape, values: Values) {
  const { byId, nowMilliseconds, absentId, sessionId, credentialsChangedAt } = values
  const standing: Standing | undefined =
    via && (via === 'session' ? { via, sessionId } : { via, credentialsChangedAt })
  return {
    byId,
    isService,
    isSigned,
    nowMilliseconds,
    standing,
    for: isDeputy ? { id: absentId, name: '' } : undefined,
  }
}

const countApproval = (to: OrderStatus, isOfRole: RawBuilder<SqlBool>, approver: string) => ({
  approvals_given: sql<number>`approvals_given + 1`,
  approved_by: sql<string>`coalesce(approved_by || ', ', '') || ${approver}`,
  role_held: sql<number>`case when ${isOfRole} then 1 else role_held end`,
  status: sql<number>`case when approvals_given + 1 >= approvals_needed then ${sql.lit(to)} else status end`,
})

/** The key stops someone who takes part twice at the same moment: neither UPDATE sees the other approval. */
async function insertApproval(trx: Trx, id: string, asking: Asking): Promise<void> {
  for (const account of new Set([asking.byId, authorityOf(asking)])) {
    const { numAffectedRows } = await insertPart(trx, { id, account })
    if (numAffectedRows !== 1n) throw new Problem('already-approved-by-you')
  }
}

const insertPart = prepared((db, { id, account }: { id: string; account: number }) =>
  db
    .insertInto('order_approvals')
    .values({ order_id: id, account_id: account })
    .onConflict((conflict) => conflict.doNothing()),
)

export async function findReceipt(db: Db, orderId: string): Promise<string | undefined> {
  return (await selectReceipt(db, { orderId })).rows[0]?.receipt
}

const selectReceipt = prepared((db, { orderId }: { orderId: string }) =>
  db.selectFrom('order_receipts').select('receipt').where('order_id', '=', orderId),
)

interface KeptReceipt {
  orderId: string
  receipt: string
  former: string | null
  version: number
}

/**
 * Keeps the receipt in place of `former`, unless another one has been kept since that was read. Returns the
 * one that is kept; undefined if the order no longer has this version, which an erasure raises.
 */
export async function keepReceipt(
  trx: Trx,
  { orderId, receipt, former, version }: KeptReceipt,
): Promise<string | undefined> {
  if ((await lockOrder(trx, orderId))?.version !== version) return undefined
  const kept = sql<string>`case when order_receipts.receipt = ${former} then excluded.receipt
    else order_receipts.receipt end`
  const row = await trx
    .insertInto('order_receipts')
    .values({ order_id: orderId, receipt })
    .onConflict((conflict) => conflict.column('order_id').doUpdateSet({ receipt: kept }))
    .returning('receipt')
    .executeTakeFirstOrThrow()
  return row.receipt
}
