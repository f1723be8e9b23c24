import type { Event, Words } from '../audit/audit.ts'
import { decimalOf, type OrderEventKind } from './order.ts'

/** What was decided on. */
export interface Decided {
  id: string
  /** Row version after the change. */
  version: number
  customer: string
  /** Ten-thousandths. */
  total: number
}

/** The event of an order, with what was decided on: nobody can say later that it was another total. */
export function orderEvent(kind: OrderEventKind, order: Decided, words: Words | null = null): Event {
  const { id, version, customer, total } = order
  return {
    kind,
    subject: { kind: 'order', id },
    version,
    data: { customer, total: decimalOf(total) },
    words,
  }
}
