import { useQuery } from '@tanstack/react-query'
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { useCallback, useDeferredValue, useEffect, useMemo, useState } from 'react'
import type { components } from '../../../../client/src/schema.ts'
import { useMay } from '../../auth/session.ts'
import { defaultPageSize } from '../../ui/paging.ts'
import { type ListSearch, parseListSearch } from '../address/address.ts'
import { useColumns } from '../address/columns.ts'
import { open, openedFrom } from '../address/opened.ts'
import { listQuery } from '../address/queries.ts'
import { focusRow } from './rows.ts'

export type Page = components['schemas']['PaginatedListOfOrderSummary']

/** A page of orders, and the request that it answers. */
export interface Shown {
  page: Page
  search: ListSearch
  pageSize: number
  totalCount: number
}

/** The state of the view, which is in the address. `change` starts from the newest one. */
export function useListSearch() {
  const address = useSearch({ from: '/signed-in/orders' })
  // The router also keeps everything else that the address has.
  const search = useMemo(() => parseListSearch(address), [address])
  const navigate = useNavigate({ from: '/orders' })
  const router = useRouter()
  const change = useCallback(
    (
      next: (search: ListSearch) => ListSearch,
      options: { replace?: boolean; resetScroll?: boolean } = {},
    ) => {
      // A search typed earlier must not lead back from the next view.
      if (router.latestLocation.pathname !== '/orders') return
      void navigate({ search: (before) => next(parseListSearch(before)), ...options })
    },
    [navigate, router],
  )
  return { search, change }
}

/** The orders that were requested, or the previous ones (`isStale`) while these are loading or refused. */
export function useShownOrders(search: ListSearch) {
  // The request depends on the columns.
  useColumns(search.columns)
  const query = useQuery({ ...listQuery(search), enabled: useMay('Orders.Read') })
  const [kept, setKept] = useState<Shown>()
  const page = query.isPlaceholderData ? undefined : query.data
  let shown = kept
  if (page !== undefined && page !== kept?.page) {
    shown = { page, search, pageSize: search.pageSize ?? defaultPageSize, totalCount: page.totalCount ?? 0 }
    setKept(shown)
  }
  // The pressed control is drawn first, because a hundred rows take too long.
  const drawn = useDeferredValue(shown)
  return {
    shown: drawn,
    isStale: page === undefined || drawn !== shown,
    failure: query.failureReason ?? query.error,
    retry: () => void query.refetch(),
  }
}

/** Opens an order. Its row has the focus on return. */
export function useOpening(): (id: string) => void {
  const navigate = useNavigate()
  const router = useRouter()
  useEffect(() => {
    const id = openedFrom(router)
    if (id !== undefined) focusRow([id], { preventScroll: true })
  }, [router])
  return useCallback(
    (id: string) => {
      open(id, router)
      void navigate({ to: '/orders/$id', params: { id } })
    },
    [navigate, router],
  )
}
