import { endOfLog } from '../../audit/audit.ts'
import { ofEngine } from '../../db/engine.ts'
import type { Db } from '../../db/tables.ts'
import { Problem } from '../../problems/problems.ts'
import { asksWhatWaits } from '../filter/parser.ts'
import { countByStatus } from '../tally.ts'
import { type FoundOrders, type ListRequest, planCount, planPage, tuning } from './plan.ts'
import * as postgres from './postgres.ts'
import { countBy, findBy } from './query.ts'
import * as sqlite from './sqlite.ts'

/** A page of the matching orders, and how many match, from one snapshot. Throws `result-too-large`. */
export async function findOrders(snapshot: Db, request: ListRequest): Promise<FoundOrders> {
  const byStatus = await countByStatus(snapshot)
  // A count that is the same for everybody is kept for everybody.
  const askings = asksWhatWaits(request.filter, 'me') ? request.askings : undefined
  const { asOf } = request
  const matches = await countBy(snapshot, planCount(request.filter, byStatus), byStatus, { askings, asOf })
  if (request.page === null && matches > tuning.unpagedLimit) throw tooLarge(matches)
  const isInOrder = await ofEngine(snapshot, { sqlite, postgres }).isInOrder(snapshot)
  const items = await findBy(snapshot, request, planPage(request, { byStatus, matches, isInOrder }))
  return { items, totalCount: matches, place: await endOfLog(snapshot) }
}

function tooLarge(totalCount: number): Problem {
  const limit = tuning.unpagedLimit
  return new Problem('result-too-large', {
    detail: `${totalCount} orders match; at most ${limit} are returned as one page.`,
    members: { totalCount, limit },
  })
}
