import type { KeptSignature } from '../../proof/decision.ts'
import type { Event, Words } from '../audit/audit.ts'
import { decimalOf, type OrderEventKind } from './order.ts'

/** The order as it was when something happened. */
export interface Decided {
  id: string
  /** Row version after the change. */
  version: number
  customer: string
  /** Ten-thousandths. */
  total: number
}

/**
 * The event of an order. It holds customer and total, so that a decision cannot be claimed for another total,
 * and the signature of the person who decided.
 */
export function orderEvent(
  kind: OrderEventKind,
  order: Decided,
  words: Words | null = null,
  signature: KeptSignature | null = null,
): Event {
  const { id, version, customer, total } = order
  return {
    kind,
    subject: { kind: 'order', id },
    version,
    data: { customer, total: decimalOf(total), ...(signature && { signature }) },
    words,
  }
}
