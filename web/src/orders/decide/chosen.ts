import type { OrderSummary } from '../order.ts'
import { allows } from '../states.ts'
import type { Subject } from './decisions.ts'

/** By id, what it takes to approve each, whatever page is shown. */
export type Chosen = ReadonlyMap<string, Subject>

/** With these chosen, or not; only those that can be approved. The same map when nothing changes. */
export function chosenWith(chosen: Chosen, orders: readonly OrderSummary[], isChosen: boolean): Chosen {
  const changing = orders.filter(({ id, status }) => allows(status, 'approve') && chosen.has(id) !== isChosen)
  if (changing.length === 0) return chosen
  const next = new Map(chosen)
  for (const { id, customer, total, createdAtUtc, status } of changing) {
    if (isChosen) next.set(id, { id, customer, total, createdAtUtc, status })
    else next.delete(id)
  }
  return next
}

/** Without those that cannot be approved any more, as far as these orders show. */
export function stillPending(chosen: Chosen, orders: readonly OrderSummary[]): Chosen {
  return without(
    chosen,
    orders.filter(({ status }) => !allows(status, 'approve')).map(({ id }) => id),
  )
}

export function without(chosen: Chosen, ids: readonly string[]): Chosen {
  if (!ids.some((id) => chosen.has(id))) return chosen
  return new Map([...chosen].filter(([id]) => !ids.includes(id)))
}
