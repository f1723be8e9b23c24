import type { Event } from '../audit/audit.ts'
import { decimalOf, type OrderEventKind } from './order.ts'
import type { Rules } from './rules.ts'

/** The order as it was when something happened. */
export interface Decided {
  id: string
  /** Row version after the change. */
  version: number
  customer: string
  /** Ten-thousandths. */
  total: number
}

/** The database adds these to a new order, and its event has them, so that a checker needs no other line. */
export interface Stamped {
  /** The short number. */
  number: number
  /** By which the order is decided, whatever the policy says later. */
  rules: Rules
  /** The owner of the client that created it. */
  ownerId: number | null
}

/** The event of an order. It has the total, so that a decision cannot be claimed for another one. */
export function orderEvent(
  kind: OrderEventKind,
  order: Decided,
  text: string | null = null,
  more: object = {},
): Event {
  const { id, version, customer, total } = order
  return {
    kind,
    subject: { kind: 'order', id },
    version,
    facts: { customer, total: decimalOf(total), ...(text !== null && { text }), ...more },
  }
}
