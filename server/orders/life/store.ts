import { type Kysely, type RawBuilder, type SqlBool, sql, type Transaction } from '#kysely'
import type { Database } from '../../db/tables.ts'
import { hasVersion } from '../../http/preconditions.ts'
import { Problem } from '../../http/problems.ts'
import type { Decided } from '../event.ts'
import { type OrderStatus, type Transition, type TransitionName, transitions } from '../order.ts'

/** What decides whether a caller may change an order. */
export interface OrderDecision extends Decided {
  status: OrderStatus
  createdById: number | null
  approvalsNeeded: number
  approvalsGiven: number
  selfApproval: boolean
  serviceApproval: boolean
  /** Whether the caller has given an approval. */
  hasApproved: boolean
}

export async function findDecision(
  db: Kysely<Database>,
  id: string,
  askedById: number | null,
): Promise<OrderDecision | undefined> {
  const row = await db
    .selectFrom('orders')
    .select(['id', 'version', 'customer', 'total_e4', 'status', 'created_by_id'])
    .select(['approvals_needed', 'approvals_given', 'self_approval', 'service_approval'])
    .select((eb) =>
      eb
        .selectFrom('order_approvals')
        .select((count) => count.fn.countAll<number>().as('given'))
        .where('order_id', '=', id)
        .where('approver_id', '=', askedById ?? 0)
        .as('given_by_asker'),
    )
    .where('id', '=', id)
    .executeTakeFirst()
  return (
    row && {
      id: row.id,
      version: row.version,
      customer: row.customer,
      total: row.total_e4,
      status: row.status as OrderStatus,
      createdById: row.created_by_id,
      approvalsNeeded: row.approvals_needed,
      approvalsGiven: row.approvals_given,
      selfApproval: row.self_approval === 1,
      serviceApproval: row.service_approval === 1,
      hasApproved: Number(row.given_by_asker) > 0,
    }
  )
}

interface Change {
  id: string
  /** Row versions that If-Match accepts; null for any. */
  acceptedVersions: number[] | null
  actor: { nowMilliseconds: number; timeZone: string | null; by: string; byId: number; isService: boolean }
}

/**
 * Makes a transition by one conditional UPDATE: on the id, the state, the version, and who asks. An approval
 * is counted, and changes the state only if no more are needed. Undefined if nothing was changed. Throws
 * `already-approved-by-you` if the same person approves twice at the same moment: both get as far as the
 * primary key.
 */
export async function changeStatus(trx: Transaction<Database>, name: TransitionName, change: Change) {
  const { id, acceptedVersions, actor } = change
  const { from, to, by } = transitions[name]
  const changed = await trx
    .updateTable('orders')
    .set((eb) => ({
      version: eb('version', '+', 1),
      updated_at: actor.nowMilliseconds,
      updated_at_time_zone: actor.timeZone,
      modified_by: actor.by,
      ...(by === 'approver' ? countApproval(to) : { status: to }),
    }))
    .where('id', '=', id)
    .where('status', 'in', from)
    .where(hasVersion(acceptedVersions))
    .where(mayChange[by](change))
    .returning(['id', 'version', 'customer', 'total_e4 as total', 'status'])
    .executeTakeFirst()
  if (changed !== undefined && by === 'approver') await insertApproval(trx, id, actor.byId)
  return changed
}

const countApproval = (to: OrderStatus) => ({
  approvals_given: sql<number>`approvals_given + 1`,
  status: sql<number>`case when approvals_given + 1 >= approvals_needed then ${sql.lit(to)} else status end`,
})

/** Which orders the actor may change; `refusalOf` names the reasons by the same conditions. */
const mayChange: Record<Transition['by'], (change: Change) => RawBuilder<SqlBool>> = {
  anyone: () => sql`true`,
  creator: ({ actor }) => sql`created_by_id = ${actor.byId}`,
  approver: ({
    id,
    actor,
  }) => sql`(self_approval = 1 or created_by_id is null or created_by_id <> ${actor.byId})
    and ${actor.isService ? sql`service_approval = 1` : sql`true`}
    and not exists (select 1 from order_approvals where order_id = ${id} and approver_id = ${actor.byId})`,
}

async function insertApproval(trx: Transaction<Database>, id: string, approverId: number): Promise<void> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('order_approvals')
    .values({ order_id: id, approver_id: approverId })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows !== 1n) throw new Problem('already-approved-by-you')
}

/**
 * Reads the order and locks its row, by a write that changes nothing. Events recorded until the transaction
 * ends come after the change that made this version, and before the next change.
 */
export async function lockOrder(trx: Transaction<Database>, id: string): Promise<Decided | undefined> {
  return trx
    .updateTable('orders')
    .set((eb) => ({ version: eb.ref('version') }))
    .where('id', '=', id)
    .returning(['id', 'version', 'customer', 'total_e4 as total'])
    .executeTakeFirst()
}
