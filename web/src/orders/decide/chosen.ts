import type { OrderSummary } from '../order.ts'
import { pending } from '../states.ts'
import type { Subject } from './decisions.ts'

/** What has to be known of each to approve it, whatever page is shown; by its id. */
export type Chosen = ReadonlyMap<string, Subject>

/** With these chosen, or not; only pending ones can be. The same map when nothing changes. */
export function chosenWith(chosen: Chosen, orders: readonly OrderSummary[], isChosen: boolean): Chosen {
  const changing = orders.filter(({ id, status }) => status === pending && chosen.has(id) !== isChosen)
  if (changing.length === 0) return chosen
  const next = new Map(chosen)
  for (const { id, customer, total, createdAtUtc } of changing) {
    if (isChosen) next.set(id, { id, customer, total, createdAtUtc })
    else next.delete(id)
  }
  return next
}

/** Without those that others have approved since, as far as these orders tell. */
export function stillPending(chosen: Chosen, orders: readonly OrderSummary[]): Chosen {
  return without(
    chosen,
    orders.filter(({ status }) => status !== pending).map(({ id }) => id),
  )
}

export function without(chosen: Chosen, ids: readonly string[]): Chosen {
  if (!ids.some((id) => chosen.has(id))) return chosen
  return new Map([...chosen].filter(([id]) => !ids.includes(id)))
}
