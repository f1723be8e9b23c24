import { formatInstant, formatTotal, shortName } from '../ui/format.ts'
import { isolated } from '../ui/isolate.ts'
import type { OrderSummary } from './order.ts'

/** What tells an order from every other one, wherever somebody decides about it. */
export type Identity = Pick<OrderSummary, 'id' | 'customer' | 'total' | 'createdAtUtc'>

/** The part of an id that is short enough to read and to say; the search finds the order by it. */
export const shortNumber = (id: string) => id.slice(0, 13)

/** The order as a sentence names it. */
export function orderInWords({ id, customer, total, createdAtUtc }: Identity): string {
  const name = isolated(shortName(customer))
  return `Order for ${name}, ${formatTotal(total)} (${shortNumber(id)}, ${formatInstant(createdAtUtc)})`
}

/** The order as the tab and the history of the browser name it. */
export function orderAsTitle({ id, customer, total, createdAtUtc }: Identity): string {
  return [isolated(customer), formatTotal(total), shortNumber(id), formatInstant(createdAtUtc)].join(' · ')
}
