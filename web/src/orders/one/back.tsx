import { Link, useRouter } from '@tanstack/react-router'
import { type MouseEvent, useState } from 'react'
import { currentSession, onForget, type User } from '../../auth/session.ts'
import { ArrowIcon } from '../../ui/icons.tsx'
import { type ListSearch, parseListSearch } from '../list/search.ts'

/**
 * The way back to the list as it was left: by the history when one came from there, so that it stands where it stood;
 * else by an address: that of the last list of this tab, else the one that is known, else the list as it begins.
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

const entryNow = () => globalThis.navigation?.currentEntry?.index ?? 0

/** Who was here last, and the entries of the history that are theirs: from `to` on they are of whoever came after. */
let before: { userId: User['id'] | undefined; from: number; to: number } = {
  userId: undefined,
  from: 0,
  to: 0,
}

const firstOf = (userId: User['id'] | undefined) => (userId === before.userId ? before.from : before.to)

onForget((gone) => {
  before = { userId: gone?.id, from: firstOf(gone?.id), to: entryNow() }
})

/** The list that this tab showed this person before, as far as the browser tells; older ones do not. */
export function lastList(): { search?: ListSearch; isPrevious: boolean } {
  const session = currentSession()
  const first = firstOf(session.kind === 'signed-in' ? session.user.id : undefined)
  const entries = globalThis.navigation?.entries() ?? []
  const here = entryNow()
  const isList = ({ url }: NavigationHistoryEntry) => url !== null && new URL(url).pathname === '/orders'
  const last = entries.slice(first, here).findLast(isList)
  if (!last?.url) return { isPrevious: false }
  const search = parseListSearch(Object.fromEntries(new URL(last.url).searchParams))
  return { search, isPrevious: last.index === here - 1 }
}
