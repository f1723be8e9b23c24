import type { ListedOrder } from '../order.ts'
import { allows } from '../states.ts'
import type { Subject } from './decisions.ts'

/** The chosen orders of all pages, by id, with what each approval needs. */
export type Chosen = ReadonlyMap<string, Subject>

/** Whether the person may approve the order, as far as its list knows. */
export function isChoosable({ status, mayApprove }: Pick<ListedOrder, 'status' | 'mayApprove'>): boolean {
  return allows(status, 'approve') && mayApprove !== false
}

/**
 * Adds or removes these orders, but adds only those that the person may approve. Returns the same map if
 * nothing changes.
 */
export function chosenWith(chosen: Chosen, orders: readonly ListedOrder[], isChosen: boolean): Chosen {
  const changing = orders.filter((order) => isChoosable(order) && chosen.has(order.id) !== isChosen)
  if (changing.length === 0) return chosen
  const next = new Map(chosen)
  for (const { id, number, customer, total, createdAtUtc, status, passkey, version } of changing) {
    const subject = { id, number, customer, total, createdAtUtc, status }
    if (isChosen) next.set(id, { ...subject, ...(passkey && { signedVersion: version }) })
    else next.delete(id)
  }
  return next
}

/** Removes the orders that, according to these rows, the person can no longer approve. */
export function stillPending(chosen: Chosen, orders: readonly ListedOrder[]): Chosen {
  return without(
    chosen,
    orders.filter((order) => !isChoosable(order)).map(({ id }) => id),
  )
}

export function without(chosen: Chosen, ids: readonly string[]): Chosen {
  if (!ids.some((id) => chosen.has(id))) return chosen
  return new Map([...chosen].filter(([id]) => !ids.includes(id)))
}
