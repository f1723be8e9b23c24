import { problemOf } from '../../api/problem.ts'
import { describeEnd } from '../../ui/describe.ts'
import { formatOrders } from '../../ui/format.ts'
import { type ListSearch, sortOf } from '../address/address.ts'
import { sortedWords } from '../fields.ts'

/** What an export would hold: `1,204 orders that match the search, newest first`. */
export function exportWords({ filter, ...search }: ListSearch, count: number): string {
  const { orderBy, order } = sortOf(search)
  return `${formatOrders(count)}${filter ? ' that match the search' : ''}, ${sortedWords(orderBy, order)}`
}

export function exportFailure(failure: unknown): { title: string; detail: string } {
  if (problemOf(failure)) return describeEnd(failure)
  return {
    title: 'The export was interrupted',
    detail: 'The connection to the service was lost. Start it again.',
  }
}

export function shareWords(count: number, of = 0): string {
  // Orders added in the meantime are included, so the count may exceed the total.
  return `${Math.min(100, Math.floor((100 * count) / Math.max(of, 1)))}%`
}
