import { Link, useRouter } from '@tanstack/react-router'
import { type MouseEvent, useEffect, useState } from 'react'
import { currentSession, useUser } from '../../auth/session.ts'
import { ArrowIcon } from '../../ui/icons.tsx'
import { type ListSearch, parseListSearch } from './address.ts'

/**
 * Leads back to the list as it was left: through the history if the person came from there, so that its
 * scrolling is kept; otherwise to the address of the last list of this tab, or the one that is known, or the
 * whole list.
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

/** Marks each entry of the history with the person: the next one is not led to the lists of another. */
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

/** The list that this tab showed this person before. Older browsers do not know it. */
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
