import { problemOf } from '../../api/problem.ts'
import { formatOrders } from '../../ui/format.ts'
import { sortedWords } from '../fields.ts'
import { type ListSearch, sortOf } from '../list/search.ts'

/** What an export would hold: `1,204 orders matching "acme", newest first`. */
export function exportWords({ filter, ...search }: ListSearch, count: number): string {
  const { orderBy, order } = sortOf(search)
  return `${formatOrders(count)}${filter ? ' that match the search' : ''}, ${sortedWords(orderBy, order)}`
}

/** An export is not tried again by itself. */
export function exportFailure(failure: unknown): { title: string; detail: string } {
  const problem = problemOf(failure)
  if (problem !== undefined) return { title: problem.title, detail: problem.detail }
  return { title: 'The export broke off', detail: 'The connection to the service was lost. Start it again.' }
}

export function shareWords(count: number, of: number): string {
  // Orders that were added in the meantime come too.
  return `${Math.min(100, Math.floor((100 * Math.max(count, 0)) / Math.max(of, 1)))}%`
}
