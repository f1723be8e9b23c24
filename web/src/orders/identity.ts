import { formatInstant, formatTotal, shortName } from '../ui/format.ts'
import { isolated } from '../ui/isolate.ts'
import type { OrderSummary } from './order.ts'

/** What distinguishes an order from every other one, wherever a person decides about it. */
export type Identity = Pick<OrderSummary, 'id' | 'customer' | 'total' | 'createdAtUtc'>

/** The part of an id that is short enough to read aloud; the search finds the order by it. */
export const shortNumber = (id: string) => id.slice(0, 13)

/** The name of the order in a sentence. */
export function orderInWords({ id, customer, total, createdAtUtc }: Identity): string {
  const name = isolated(shortName(customer))
  return `Order for ${name}, ${formatTotal(total)} (${shortNumber(id)}, ${formatInstant(createdAtUtc)})`
}

/** The name of the order for the tab and the browser's history. */
export function orderAsTitle({ id, customer, total, createdAtUtc }: Identity): string {
  return [isolated(customer), formatTotal(total), shortNumber(id), formatInstant(createdAtUtc)].join(' · ')
}
