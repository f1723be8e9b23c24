import type { FetchQueryOptions, QueryKey } from '@tanstack/react-query'
import { orderStates } from '../../../../client/src/facts.ts'
import { problemOf } from '../../api/problem.ts'
import { queries } from '../../api/queries.ts'
import { currentPerson, refreshSession } from '../../auth/session.ts'
import { dropDraft } from '../../ui/draft.ts'
import { missingOf } from '../approvals.ts'
import type { VersionedOrder } from '../order.ts'
import { failureOf } from '../outbox.ts'
import { approvalsQuery, orderQuery, ordersChanged } from '../queries.ts'
import type { ActionName } from '../states.ts'
import { actions, stateAfter } from './actions.ts'
import type { Decisions, Service, Signatures, Subject } from './decisions.ts'
import { deselect } from './selection.ts'
import { isSettled } from './words.ts'

/**
 * Decides, and updates the rest of the app. Returns false if the person who asked is gone: then the next
 * person is shown nothing of it.
 */
export async function settle(
  decisions: Decisions,
  action: ActionName,
  signatures: Signatures,
): Promise<boolean> {
  const person = currentPerson()
  await decisions.start(signatures)
  if (person !== currentPerson()) return false
  const { steps } = decisions.snapshot.get()
  const settled = steps.filter(({ progress }) => isSettled(progress, action))
  deselect(settled.map(({ subject }) => subject.id))
  void ordersChanged()
  if (steps.some(({ progress }) => problemOf(failureOf(progress), 'permission-denied'))) {
    void refreshSession().catch(() => undefined)
  }
  return true
}

/** Where the draft of the reason is kept. */
export const placeOf = (action: ActionName, orders: readonly Pick<Subject, 'id'>[]) =>
  `${action} ${orders.map(({ id }) => id).join(' ')}`

/** Decides on these orders. */
export function serviceFor(
  action: ActionName,
  userName: string,
  orders: readonly Pick<Subject, 'id'>[],
): Service {
  const person = currentPerson()
  const readAgain = async <Data, Key extends QueryKey>(query: FetchQueryOptions<Data, Error, Data, Key>) => {
    // A running request may have been sent before the change.
    await queries.cancelQueries({ queryKey: query.queryKey })
    return queries.fetchQuery({ ...query, staleTime: 0, retry: false })
  }
  return {
    async decide(decision) {
      await actions[action].send(decision)
      dropDraft(placeOf(action, orders))
    },
    async missing(id) {
      const missing = action === 'approve' ? missingOf(await readAgain(approvalsQuery(id))) : 0
      if (missing === 0 && person === currentPerson()) showDecided(id, action, userName)
      return missing
    },
    read: (id) => readAgain(orderQuery(id)),
  }
}

/**
 * Shows the decision at once, but not its time, which only the service knows. The time is read at the end.
 */
function showDecided(id: string, action: ActionName, modifiedBy: string): void {
  const stamp = { modifiedBy, updatedAtUtc: null, updatedAtTimeZone: null }
  queries.setQueryData(
    orderQuery(id).queryKey,
    (known): VersionedOrder | undefined =>
      known && { ...known, order: { ...known.order, ...stamp, status: orderStates[stateAfter(action)] } },
  )
}
