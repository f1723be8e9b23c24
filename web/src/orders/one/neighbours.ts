import { useNavigate } from '@tanstack/react-router'
import { queries } from '../../api/queries.ts'
import { announce } from '../../ui/announce.ts'
import { describeFailure } from '../../ui/describe.ts'
import { onPage } from '../../ui/paging.ts'
import { useShortcut } from '../../ui/shortcuts.ts'
import type { ListSearch } from '../address/address.ts'
import { lastList } from '../address/back.tsx'
import { focusOnReturn } from '../address/opened.ts'
import { listQuery } from '../address/queries.ts'

/** The order that was reached last, its list, and the page of the list that holds it. */
let reached: { id: string; list: string; page: ListSearch } | undefined

/** j and k lead from an order to its neighbours in the list that led here, as that list was shown. */
export function useNeighbourKeys(id: string): void {
  const navigate = useNavigate()
  async function go(step: 1 | -1) {
    const { search } = lastList()
    if (search === undefined) return announce('j and k work only when the order was opened from the list.')
    const list = JSON.stringify(search)
    const from = reached?.id === id && reached.list === list ? reached.page : search
    try {
      const next = await neighbourOf(id, from, step)
      if (next === undefined)
        return announce(`This is the ${step === 1 ? 'last' : 'first'} order in the list.`)
      reached = { ...next, list }
      focusOnReturn(next.id)
      // The list stays the previous entry of the history.
      await navigate({ to: '/orders/$id', params: { id: next.id }, replace: true })
    } catch (failure) {
      announce(`The list could not be read. ${describeFailure(failure).title}.`)
    }
  }
  useShortcut('j', () => void go(1))
  useShortcut('k', () => void go(-1))
}

async function neighbourOf(id: string, search: ListSearch, step: 1 | -1) {
  const page = await readPage(search)
  const index = page.items.findIndex((order) => order.id === id)
  const here = page.items[index + step]
  if (index !== -1 && here) return { id: here.id, page: search }
  const number = page.pageNumber + step
  if (number < 1 || number > page.totalPages) return undefined
  const there = onPage(search, number)
  const { items } = await readPage(there)
  const [other] = step === 1 ? items : items.slice(-1)
  return other && { id: other.id, page: there }
}

/**
 * Reads the page as it was shown, however old: its order must not change while the person goes through it.
 */
const readPage = (search: ListSearch) => queries.ensureQueryData({ ...listQuery(search), retry: false })
