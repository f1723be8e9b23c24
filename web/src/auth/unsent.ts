import { describeFailure } from '../ui/describe.ts'
import { formatCount } from '../ui/format.ts'
import { observable } from '../ui/observable.ts'
import { holdPage } from '../ui/reload.ts'
import { currentSession } from './session.ts'

/** Requests that the page sends by itself: they are lost if it goes away first. */
export interface Unsent {
  noun: 'decision' | 'order' | 'document'
  count: number
  /** It waits for its person to sign in again. Anything else ends with the session. */
  isPatient: boolean
  /** Why the last try failed, if it did. */
  failure: unknown
  /** Sends without waiting any longer. */
  send(): void
  discard(): void
  /** Asked once nothing is on its way. */
  isAllSent(): boolean
}

const parts = new Map<object, Unsent>()

/** Everything that this page has not sent yet, and whose it is. */
export const unsent = observable<{ parts: readonly Unsent[]; userName: string }>({ parts: [], userName: '' })

/** A sentence for the sign-in page: how far a sheet was that the sign-out ended. */
export const leftOver = observable<string | undefined>(undefined)

/** Called at each change in a part of the page. While anything is unsent, the browser asks before leaving. */
export function reportUnsent(part: object, now: Unsent): void {
  if (now.count > 0) parts.set(part, now)
  else if (!parts.delete(part)) return
  const session = currentSession()
  const userName = session.kind === 'signed-in' ? session.user.userName : unsent.get().userName
  unsent.set({ parts: [...parts.values()], userName })
  holdPage('unsent', parts.size > 0)
  if (parts.size > 0) addEventListener('beforeunload', askBeforeLeaving)
  else removeEventListener('beforeunload', askBeforeLeaving)
}

const askBeforeLeaving = (event: BeforeUnloadEvent) => event.preventDefault()

/** As in "one decision" or "6 orders". */
export const countInWords = (count: number, noun: Unsent['noun']) =>
  count === 1 ? `one ${noun}` : `${formatCount(count)} ${noun}s`

/** The reason why these requests are not sent yet, if any. */
export function delayInWords(
  { count, failure }: Pick<Unsent, 'count' | 'failure'>,
  isOnline: boolean,
): string | undefined {
  if (count > 0 && !isOnline) return `${count === 1 ? 'It' : 'They'} will go out when you’re back online.`
  if (failure === undefined) return undefined
  const { title, detail } = describeFailure(failure)
  return `${title}. ${detail}`
}
