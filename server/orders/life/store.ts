import { type Kysely, sql, type Transaction } from '#kysely'
import type { Database } from '../../db/tables.ts'
import { Problem } from '../../http/problems.ts'
import type { Decided } from '../event.ts'
import { type OrderStatus, orderStatus, transitions } from '../order.ts'

/** What decides who may do what to an order. */
export interface OrderDecision extends Decided {
  status: OrderStatus
  createdById: number | null
  approvalsNeeded: number
  approvalsGiven: number
  selfApproval: boolean
  serviceApproval: boolean
  /** Whether the person who asks has given an approval. */
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
  acceptedVersions: number[] | null
  actor: {
    nowMilliseconds: number
    timeZone: string | null
    by: string
    byId: number | null
    isService: boolean
  }
}

/**
 * One conditional UPDATE on id, state, if versions are given on version, and on who asks. It counts the approval, and
 * approves the order if that was the last needed. Undefined if nothing was changed. Throws `already-approved-by-you`
 * for a second approval of the same person at the same moment, which gets as far as the primary key.
 */
export async function giveApproval(trx: Transaction<Database>, change: Change) {
  const { id, actor } = change
  const approverId = actor.byId
  if (approverId === null) return undefined
  const given = await changed(trx, change)
    .set((eb) => ({
      approvals_given: eb('approvals_given', '+', 1),
      status: sql<number>`case when approvals_given + 1 >= approvals_needed
        then ${sql.lit(transitions.approve.to)} else ${sql.lit(orderStatus.Pending)} end`,
    }))
    .where((eb) =>
      eb.or([
        eb('self_approval', '=', 1),
        eb('created_by_id', 'is', null),
        eb('created_by_id', '<>', approverId),
      ]),
    )
    .$if(actor.isService, (query) => query.where('service_approval', '=', 1))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('order_approvals')
            .select('order_id')
            .where('order_id', '=', id)
            .where('approver_id', '=', approverId),
        ),
      ),
    )
    .executeTakeFirst()
  if (given === undefined) return undefined
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('order_approvals')
    .values({ order_id: id, approver_id: approverId })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows !== 1n) throw new Problem('already-approved-by-you')
  return given
}

/** The same for a transition that needs nobody else; to withdraw only for who created the order. */
export async function moveOrder(trx: Transaction<Database>, name: 'reject' | 'withdraw', change: Change) {
  return changed(trx, change)
    .set({ status: transitions[name].to })
    .$if(name === 'withdraw', (query) => query.where('created_by_id', '=', change.actor.byId))
    .executeTakeFirst()
}

/**
 * The order, which nobody changes until the transaction ends: a write that changes nothing locks the row. What is
 * recorded meanwhile stands in the log behind the change that made this version, and before the next.
 */
export async function lockOrder(trx: Transaction<Database>, id: string): Promise<Decided | undefined> {
  return trx
    .updateTable('orders')
    .set((eb) => ({ version: eb.ref('version') }))
    .where('id', '=', id)
    .returning(['id', 'version', 'customer', 'total_e4 as total'])
    .executeTakeFirst()
}

/** The UPDATE that every transition is: what it sets and asks besides is its own. */
function changed(trx: Transaction<Database>, { id, acceptedVersions, actor }: Change) {
  return (
    trx
      .updateTable('orders')
      .set((eb) => ({
        version: eb('version', '+', 1),
        updated_at: actor.nowMilliseconds,
        updated_at_time_zone: actor.timeZone,
        modified_by: actor.by,
      }))
      .where('id', '=', id)
      .where('status', '=', orderStatus.Pending)
      // No version is 0: an empty list accepts none.
      .$if(acceptedVersions !== null, (query) =>
        query.where('version', 'in', [0, ...(acceptedVersions ?? [])]),
      )
      .returning(['id', 'version', 'customer', 'total_e4 as total', 'status'])
  )
}
