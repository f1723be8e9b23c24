import { Link, useRouter } from '@tanstack/react-router'
import { type MouseEvent, useEffect, useState } from 'react'
import { currentSession, useUser } from '../../auth/session.ts'
import { ArrowIcon } from '../../ui/icons.tsx'
import { type ListSearch, parseListSearch } from './address.ts'

/**
 * Leads back to the list as it was left. If the person came from there, it goes through the history, which
 * keeps the scroll position. Otherwise it leads to the last list of this tab, or to `known`, or to the whole
 * list.
 */
export function BackToList({ known }: { known?: ListSearch }) {
  const { history } = useRouter()
  const [{ search = known ?? {}, isPrevious }] = useState(lastList)
  function goBack(event: MouseEvent) {
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    if (!isPrevious || !isPlain) return
    event.preventDefault()
    history.back()
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

/** Marks each history entry with the person, so that nobody is led to the lists of someone else. */
export function useOwnEntries(): void {
  const { id } = useUser()
  useEffect(() => {
    const { navigation } = globalThis
    if (!navigation) return undefined
    const mark = () => {
      if (navigation.currentEntry?.getState() !== id) navigation.updateCurrentEntry({ state: id })
    }
    mark()
    navigation.addEventListener('currententrychange', mark)
    return () => navigation.removeEventListener('currententrychange', mark)
  }, [id])
}

/** The list that this tab last showed this person. Older browsers keep no record of it. */
export function lastList(): { search?: ListSearch; isPrevious: boolean } {
  const session = currentSession()
  if (session.kind !== 'signed-in') return { isPrevious: false }
  const here = globalThis.navigation?.currentEntry?.index ?? 0
  const last = globalThis.navigation
    ?.entries()
    .slice(0, here)
    .findLast((entry) => entry.getState() === session.user.id && isList(entry))
  if (!last?.url) return { isPrevious: false }
  const search = parseListSearch(Object.fromEntries(new URL(last.url).searchParams))
  return { search, isPrevious: last.index === here - 1 }
}

const isList = ({ url }: NavigationHistoryEntry) => url !== null && new URL(url).pathname === '/orders'
