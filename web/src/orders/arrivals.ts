import { queries } from '../api/queries.ts'
import { observable } from '../ui/observable.ts'

/** Ids of the orders that others created since the list on the screen was loaded. */
export const arrived = observable<readonly string[]>([])
/** Whether the list is not live because the account follows it in as many other places as it may. */
export const isCrowded = observable(false)
/** Orders created in this tab. The person already knows about them. */
const made = new Set<string>()

export function isMadeHere(id: string): void {
  made.add(id)
}

export function arrive(ids: readonly string[]): void {
  const others = ids.filter((id) => !made.has(id))
  if (others.length > 0) arrived.set([...new Set([...arrived.get(), ...others])])
}

/** The arrivals that will be in the list that is loading: they are then no longer new. */
let expected: readonly string[] = []

queries.getQueryCache().subscribe((event) => {
  if (event.type !== 'updated' || event.query.queryKey[1] !== 'list' || !event.query.isActive()) return
  if (event.action.type === 'fetch') expected = arrived.get()
  const isLoaded = event.action.type === 'success' && !event.action.manual
  if (isLoaded && expected.length > 0) arrived.set(arrived.get().filter((id) => !expected.includes(id)))
})
