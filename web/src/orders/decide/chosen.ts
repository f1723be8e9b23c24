import { type ListedOrder, tagOf } from '../order.ts'
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
  for (const order of changing) {
    if (isChosen) next.set(order.id, subjectOfRow(order))
    else next.delete(order.id)
  }
  return next
}

/** The order as its row shows it, for a decision about exactly this version. */
export function subjectOfRow({ passkey, version, documents, ...order }: ListedOrder): Subject {
  const { id, number, customer, total, createdAtUtc, status } = order
  const subject = { id, number, customer, total, createdAtUtc, status }
  return {
    ...subject,
    ...(version !== undefined && { etag: tagOf(version), documents }),
    ...(passkey && { signedVersion: version }),
  }
}

/** Removes the orders that, according to these rows, the person can no longer approve, and updates others. */
export function stillPending(chosen: Chosen, orders: readonly ListedOrder[]): Chosen {
  const left = without(
    chosen,
    orders.filter((order) => !isChoosable(order)).map(({ id }) => id),
  )
  const changed = orders
    .map(subjectOfRow)
    .filter(({ id, etag }) => left.has(id) && left.get(id)?.etag !== etag)
  return changed.length === 0
    ? left
    : new Map([...left, ...changed.map((subject) => [subject.id, subject] as const)])
}

export function without(chosen: Chosen, ids: readonly string[]): Chosen {
  if (!ids.some((id) => chosen.has(id))) return chosen
  return new Map([...chosen].filter(([id]) => !ids.includes(id)))
}
