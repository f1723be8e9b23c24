import { restrictionsOf, withRestriction } from '../filter/restrictions.ts'
import { mineFilter } from '../states.ts'
import { type ListSearch, parseListSearch } from './address.ts'

/** What a review goes through: the results of a search, in their order, or the orders that were selected. */
export type Question = Pick<ListSearch, 'filter' | 'orderBy' | 'order'> & { ids?: string | undefined }

/**
 * `at` is the order on the screen, or `end` after the last one. If it is absent, the review is at the first
 * order.
 */
export type ReviewSearch = Question & { at?: string | undefined }

export const end = 'end'
/** With more ids, the address would be too long for some servers. */
export const mostSelected = 100

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Reads an address; values that make no sense count as absent. */
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

/** The search that a list and a review have in common, without the page. */
export function searchOf({ filter, orderBy, order }: Question): ListSearch {
  return { filter, orderBy, order }
}

/** The fields that say whose turn it is. */
const decidedFields = ['status', 'waits', 'approvedBy', 'number', 'id'] as const

/** The orders of the list that wait for the person, unless its search says which orders it wants. */
export function questionOfList(list: ListSearch): Question {
  const { filter = '' } = list
  const isOpen = decidedFields.every((name) => restrictionsOf(filter, name)?.length === 0)
  const narrowed = isOpen ? withRestriction(filter, 'waits', mineFilter) : null
  return { ...searchOf(list), ...(narrowed !== null && { filter: narrowed }) }
}

/** The first hundred of the selected orders, in the order of their selection. */
export function questionOfSelected(list: ListSearch, selected: readonly string[]): Question {
  return { ...searchOf(list), ids: selected.slice(0, mostSelected).join(',') }
}
