import { isolated } from '../../../rules/isolate.ts'
import { formatInstant, formatTotal, shortName } from '../ui/format.ts'
import type { OrderSummary } from './order.ts'

/** The facts that identify an order, shown wherever a person decides about it. */
export type Identity = Pick<OrderSummary, 'id' | 'customer' | 'total' | 'createdAtUtc'> & Numbered

interface Numbered {
  /** Undefined until it was read. */
  number?: number | undefined
}

/** The number as people say it and search for it. Empty if it is unknown. */
export const numberOf = ({ number }: Numbered) => (number === undefined ? '' : `#${number}`)

/** The name of the order in a short sentence: its number, or whom it is for. */
export function orderInWords(order: Pick<Identity, 'customer' | 'number'>): string {
  return `Order ${numberOf(order) || `for ${isolated(shortName(order.customer))}`}`
}

/** The name of the order for the tab and the browser's history. */
export function orderAsTitle({ customer, total, createdAtUtc, ...order }: Identity): string {
  const parts = [isolated(customer), formatTotal(total), numberOf(order), formatInstant(createdAtUtc)]
  return parts.filter(Boolean).join(' · ')
}
