import type { Identity } from '../identity.ts'
import { type ListSearch, parseListSearch, type Sort, sortOf } from './address.ts'

/** What a review goes through: what a search finds, in its order; or the orders that somebody selected. */
export type Question = Pick<ListSearch, 'filter' | 'orderBy' | 'order'> & { ids?: string | undefined }

/** `at`: the order that is shown, or `end` behind the last one; without it the first. */
export type ReviewSearch = Question & { at?: string | undefined }

export const end = 'end'
/** More ids make an address that not every server takes. */
export const mostSelected = 100

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Reads an address; what makes no sense in it counts as absent. */
export function parseReviewSearch(search: { [Name in keyof ReviewSearch]?: unknown }): ReviewSearch {
  const ids = String(search.ids).split(',').filter(isId).slice(0, mostSelected)
  const at = String(search.at)
  return {
    ...searchOf(parseListSearch(search)),
    ids: ids.length > 0 ? ids.join(',') : undefined,
    at: at === end || isId(at) ? at : undefined,
  }
}

const isId = (text: string) => uuid.test(text)

/** The search that a list and a review have in common, whichever page is shown. */
export function searchOf({ filter, orderBy, order }: Question): ListSearch {
  return { filter, orderBy, order }
}

/** Of the orders that somebody selected in a list: the first hundred, in its order. */
export function questionOfSelected(list: ListSearch, selected: readonly Identity[]): Question {
  const { orderBy, order } = sortOf(list)
  const sign = order === 'Asc' ? 1 : -1
  const sorted = [...selected].sort((a, b) => sign * (compare(a, b, orderBy) || compareText(a.id, b.id)))
  const ids = sorted.slice(0, mostSelected).map(({ id }) => id)
  return { ...searchOf(list), ids: ids.join(',') }
}

/** What is selected is pending, and its id says when it was created: all else is decided by the id. */
function compare(a: Identity, b: Identity, by: Sort['orderBy']): number {
  if (by === 'total') return a.total - b.total
  return by === 'customer' ? compareText(folded(a.customer), folded(b.customer)) : 0
}

const folded = (text: string) => text.normalize('NFKC').toLowerCase()
const compareText = (a: string, b: string) => Number(a > b) - Number(a < b)
