import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Database } from '../../db/tables.ts'
import { Problem } from '../../http/problems.ts'
import { type OrderSummary, summaryNames } from '../order.ts'
import { toResponse } from '../responses.ts'
import { countByStatus } from '../tally.ts'
import { type ListRequest, planCount, planPage, tuning } from './plan.ts'
import { countBy, findBy } from './query.ts'

export interface FoundOrders {
  /** JSON of an array, in UTF-8: whoever sends it need not look at it. */
  itemsJson: Uint8Array
  totalCount: number
}

/** A page of the orders that match, and how many match, of one snapshot. Throws `result-too-large`. */
export async function findOrders(snapshot: Kysely<Database>, request: ListRequest): Promise<FoundOrders> {
  const byStatus = await countByStatus(snapshot)
  const matches = await countBy(snapshot, planCount(request.filter, byStatus), byStatus)
  if (request.page === null && matches > tuning.unpagedLimit) throw tooLarge(matches)
  const orders = await findBy(snapshot, request, planPage(request, { byStatus, matches }))
  return { itemsJson: await toJson(orders), totalCount: matches }
}

/** On PostgreSQL it is the event loop that does this: half a millisecond at a time. */
const ordersAtOnce = 500

async function toJson(orders: OrderSummary[]): Promise<Uint8Array> {
  const parts: string[] = []
  for (let start = 0; start < orders.length; start += ordersAtOnce) {
    if (start > 0) await nextTurn()
    const some = orders.slice(start, start + ordersAtOnce)
    parts.push(some.map((order) => JSON.stringify(toResponse(summaryNames, order))).join())
  }
  return Buffer.from(`[${parts.join()}]`)
}

function tooLarge(totalCount: number): Problem {
  const limit = tuning.unpagedLimit
  return new Problem('result-too-large', {
    detail: `${totalCount} orders match; at most ${limit} are returned as one page.`,
    members: { totalCount, limit },
  })
}
