import type { FetchQueryOptions, QueryKey } from '@tanstack/react-query'
import { orderStates } from '../../../../client/src/facts.ts'
import { problemOf } from '../../api/problem.ts'
import { queries } from '../../api/queries.ts'
import { changesOfHands, refreshSession } from '../../auth/session.ts'
import { dropDraft } from '../../ui/draft.ts'
import { pause } from '../../ui/pause.ts'
import { missingOf } from '../approvals.ts'
import type { VersionedOrder } from '../order.ts'
import { approvalsQuery, orderQuery, ordersChanged } from '../queries.ts'
import type { Deed } from './actions.ts'
import { type Decisions, failureOf, type Service } from './decisions.ts'
import { deselect } from './selection.ts'
import { type Ending, endingOf } from './words.ts'

/**
 * Decides, and tells the rest of the app. False: the person who asked is gone, and nothing is told to the next one.
 */
export async function settle(decisions: Decisions): Promise<boolean> {
  const hands = changesOfHands()
  await decisions.start()
  if (hands !== changesOfHands()) return false
  deselect(settledOf(decisions))
  void ordersChanged()
  if (mayNoMore(decisions)) void refreshSession().catch(() => undefined)
  return true
}

/** Where the reason is written. */
export const placeOf = ({ name }: Deed, id: string) => `${name} ${id}`

export function serviceFor(deed: Deed, userName: string): Service {
  const hands = changesOfHands()
  const readAnew = async <Data, Key extends QueryKey>(query: FetchQueryOptions<Data, Error, Data, Key>) => {
    // One that is under way may have been asked before the change.
    await queries.cancelQueries({ queryKey: query.queryKey })
    return queries.fetchQuery({ ...query, staleTime: 0, retry: false })
  }
  return {
    newKey: () => crypto.randomUUID(),
    async decide(decision) {
      await deed.send(decision)
      dropDraft(placeOf(deed, decision.id))
    },
    async missing(id) {
      const missing = deed.to === 'Approved' ? missingOf(await readAnew(approvalsQuery(id))) : 0
      if (missing === 0 && hands === changesOfHands()) showDecided(id, deed, userName)
      return missing
    },
    read: (id) => readAnew(orderQuery(id)),
    pause,
  }
}

/** At once, without the time, which only the service knows: it is asked when all is done. */
function showDecided(id: string, { to }: Deed, userName: string): void {
  const stamp = { modifiedBy: userName, updatedAtUtc: null, updatedAtTimeZone: null }
  queries.setQueryData(
    orderQuery(id).queryKey,
    (known): VersionedOrder | undefined =>
      known && { ...known, order: { ...known.order, ...stamp, status: orderStates[to] } },
  )
}

/** Then the rest of the app should know it, too. */
function mayNoMore(decisions: Decisions): boolean {
  const { steps } = decisions.snapshot.get()
  return steps.some(({ progress }) => problemOf(failureOf(progress), 'permission-denied'))
}

const open: readonly (Ending | undefined)[] = [
  'changed',
  'denied',
  'failed',
  'unclear',
  'untouched',
  undefined,
]

/** Of these there is nothing left to do for this person, whoever did it. */
function settledOf(decisions: Decisions): string[] {
  const { steps } = decisions.snapshot.get()
  return steps.filter(({ progress }) => !open.includes(endingOf(progress))).map(({ subject }) => subject.id)
}
