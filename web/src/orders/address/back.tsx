import { Link, useRouter } from '@tanstack/react-router'
import { type MouseEvent, useEffect, useState } from 'react'
import { onForget } from '../../auth/session.ts'
import { ArrowIcon } from '../../ui/icons.tsx'
import type { ListSearch } from './address.ts'

type Router = ReturnType<typeof useRouter>

/** The list that this page last showed, and its place in the history. */
let last: { search: ListSearch; index: number } | undefined

onForget(() => {
  last = undefined
})

const indexOf = ({ latestLocation }: Router) => latestLocation.state.__TSR_index

export function useLastList(search: ListSearch): void {
  const router = useRouter()
  useEffect(() => {
    last = { search, index: indexOf(router) }
  }, [search, router])
}

/**
 * Leads back to the list as it was left. If the person came from there, it goes through the history, which
 * keeps the scroll position. Otherwise it leads to the last list, or to `known`, or to the whole list.
 */
export function BackToList({ known = {} }: { known?: ListSearch }) {
  const router = useRouter()
  const [{ search, isPrevious }] = useState(() => ({
    search: last?.search ?? known,
    isPrevious: last?.index === indexOf(router) - 1,
  }))
  function goBack(event: MouseEvent) {
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    if (!isPrevious || !isPlain) return
    event.preventDefault()
    router.history.back()
  }
  return (
    <nav aria-label="Breadcrumb">
      <Link className="back" to="/orders" search={search} onClick={goBack} activeOptions={{ exact: true }}>
        <ArrowIcon to="left" />
        Orders
      </Link>
    </nav>
  )
}
