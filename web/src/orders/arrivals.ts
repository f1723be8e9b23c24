import { observable } from '../ui/observable.ts'

/** Ids of the orders that others created since the list on the screen was loaded. */
const arrived = observable<readonly string[]>([])
export const useArrived = arrived.use
/** Created in this tab: the person knows about them. */
const made = new Set<string>()

export function isMadeHere(id: string): void {
  made.add(id)
}

export function arrive(ids: readonly string[]): void {
  const others = ids.filter((id) => !made.has(id))
  if (others.length > 0) arrived.set([...new Set([...arrived.get(), ...others])])
}

/** What the list that is being loaded will hold. */
let expected: readonly string[] = []

export function listAsked(): void {
  expected = arrived.get()
}

export function listLoaded(): void {
  if (expected.length > 0) arrived.set(arrived.get().filter((id) => !expected.includes(id)))
}
