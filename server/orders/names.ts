/** The names in the rows of orders, which follow those in the lines of the log when one is erased. */
import { sql } from '#kysely'
import { type LogLine, namesIn, valueIn } from '../../proof/line.ts'
import { type SealedEvent, sealedEventsOfOrders } from '../audit/audit.ts'
import { keptUntilCommit } from '../db/engine.ts'
import { prepared } from '../db/prepared.ts'
import type { Trx } from '../db/tables.ts'
import { foldText } from './fold.ts'
import { approvalKinds } from './life/history.ts'
import { type OrderEventKind, statusAfter } from './order.ts'

/** Orders that are read and written together. */
const batch = 200

/**
 * Gives the rows of the orders, and of their documents, the names that their sealed events still have.
 * `customer` is the name in the place of an erased one. Versions rise, because answers change, and kept
 * receipts go: the next ones are made from the lines as they are now.
 */
export async function followLines(
  trx: Trx,
  ids: readonly string[],
  customer: string | null = null,
): Promise<void> {
  for (let at = 0; at < ids.length; at += batch) {
    const some = ids.slice(at, at + batch)
    const events = Map.groupBy(await sealedEventsOfOrders(trx, some), ({ subject_id }) => subject_id)
    for (const id of some) {
      await updateNames(trx, namesOf(id, events.get(id) ?? []))
      if (customer !== null) await updateCustomer(trx, { id, name: customer, folded: foldText(customer) })
    }
    await updateDocuments(trx, [...events.values()].flat())
    await trx.deleteFrom('order_receipts').where('order_id', 'in', some).execute()
  }
}

interface OrderNames {
  id: string
  /** Null where the log does not say it. */
  created_by: string | null
  modified_by: string | null
  approved_by: string | null
}

/** Events that set `modified_by`. */
const changing = Object.keys(statusAfter).filter(
  (kind) => !['created', 'noted', 'document-erased'].includes(kind),
)

function namesOf(id: string, events: readonly SealedEvent[]): OrderNames {
  const told = events.map((event) => ({ kind: event.kind, ...namesIn(lineOf(event)) }))
  const approvals = told.filter(({ kind }) => approvalKinds.includes(kind as OrderEventKind))
  const creation = told.find(({ kind }) => kind === 'created')
  const last = told.findLast(({ kind }) => changing.includes(kind))
  return {
    id,
    created_by: creation?.by ?? null,
    modified_by: last?.by ?? null,
    approved_by:
      approvals.map((each) => (each.for === null ? each.by : `${each.by} for ${each.for}`)).join(', ') ||
      null,
  }
}

const lineOf = ({
  clear,
  by_id: byId,
  for_id: forId,
}: SealedEvent): Pick<LogLine, 'clear' | 'byId' | 'forId'> => ({
  ...{ clear: JSON.parse(clear), byId, forId },
})

const updateNames = prepared((_db, { id, created_by, modified_by, approved_by }: OrderNames) => {
  // A name that a row does not have is none to replace.
  const kept = Object.entries({ created_by, modified_by, approved_by }).map(([name, value]) => {
    const column = sql.ref(name)
    return sql`${column} = case when ${column} is null then null
      else coalesce(cast(${value} as text), ${column}) end`
  })
  return sql`update orders set version = version + 1, ${sql.join(kept)} where id = ${id}`
})

const updateCustomer = prepared((db, { id, name, folded }: { id: string; name: string; folded: string }) =>
  db.updateTable('orders').set({ customer: name, customer_folded: folded }).where('id', '=', id),
)

/** A document without a name has the empty one. */
async function updateDocuments(trx: Trx, events: readonly SealedEvent[]): Promise<void> {
  for (const event of events.filter(({ kind }) => kind === 'document-added')) {
    const line = lineOf(event)
    await trx
      .updateTable('order_documents')
      .set({ name: valueIn(line, 'documentName') ?? '', added_by: namesIn(line).by })
      .where('id', '=', JSON.parse(event.data).document.id)
      .execute()
  }
}

/** The ids of the orders of a customer, whose name is compared as a search does, oldest first. */
export async function ordersOfCustomer(
  trx: Trx,
  customer: string,
): Promise<{ id: string; number: number }[]> {
  return trx
    .selectFrom('orders')
    .select(['id', 'number'])
    .where('customer_folded', '=', foldText(customer))
    .orderBy('number')
    .execute()
}

/** Locks those of the orders that exist, always in the same order, and returns their ids. */
export async function lockOrders(trx: Trx, ids: readonly string[]): Promise<string[]> {
  const found: string[] = []
  const sorted = ids.toSorted()
  for (let at = 0; at < ids.length; at += batch) {
    const rows = await trx
      .selectFrom('orders')
      .select('id')
      .where('id', 'in', sorted.slice(at, at + batch))
      .orderBy('id')
      .modifyEnd(keptUntilCommit(trx, 'own'))
      .execute()
    found.push(...rows.map(({ id }) => id))
  }
  return found
}
