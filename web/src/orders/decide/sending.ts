import { problemOf } from '../../api/problem.ts'
import { queries } from '../../api/queries.ts'
import { currentPerson, currentSession, onForget, refreshSession, type User } from '../../auth/session.ts'
import { unsent } from '../../auth/unsent.ts'
import { announce } from '../../ui/announce.ts'
import { formatOrders } from '../../ui/format.ts'
import { holdPage } from '../../ui/reload.ts'
import { orderInWords } from '../identity.ts'
import { orderQuery, ordersChanged } from '../queries.ts'
import { type ActionName, shownAs } from '../states.ts'
import { mark } from './course.ts'
import { decideOne, failureOf, type Progress, type Subject } from './decisions.ts'
import { keepInBrowser, leaveInBrowser, lookForLeft } from './left.ts'
import { type Entry, isHeld, isOpen, mayHaveHappened, Outbox } from './outbox.ts'
import { deselect } from './selection.ts'
import { serviceFor } from './service.ts'
import { decisionsInWords } from './words.ts'

/** The one outbox of this page, whatever view is on the screen. */
export const outbox = new Outbox({
  now: () => Date.now(),
  after(milliseconds, act) {
    const timer = setTimeout(act, milliseconds)
    return () => clearTimeout(timer)
  },
  canSend({ user }) {
    const session = currentSession()
    return navigator.onLine && session.kind === 'signed-in' && session.user.id === user.id
  },
  send,
  onChange(entries) {
    keepInBrowser(entries)
    guardPage(entries.some(isOpen))
    const held = entries.filter(isHeld)
    unsent.set(held[0] && { count: held.length, userName: held[0].user.userName })
  },
  onSent: (count) => announce(`${decisionsInWords(count)} sent.`),
})

onForget(() => outbox.pause())
addEventListener('online', () => outbox.sendDue())
// Runs before the session's listener, which forgets the person.
addEventListener(
  'pagehide',
  () => {
    leaveInBrowser()
    outbox.clear()
  },
  { capture: true },
)
// Another tab has made or settled a decision, or has changed something else.
addEventListener('storage', () => {
  const session = currentSession()
  if (session.kind === 'signed-in') lookForLeft(session.user.id)
})

const askBeforeLeaving = (event: BeforeUnloadEvent) => event.preventDefault()

/** While something is unsent, the browser asks before the page goes away. */
function guardPage(isNeeded: boolean): void {
  holdPage('decisions', isNeeded)
  if (isNeeded) addEventListener('beforeunload', askBeforeLeaving)
  else removeEventListener('beforeunload', askBeforeLeaving)
}

/** Called when a person is there: continues with their decisions, and drops those of anyone else. */
export function takeUp(userId: User['id']): void {
  const dropped = outbox.resume(userId) + lookForLeft(userId)
  if (dropped === 0) return
  announce(`${decisionsInWords(dropped)} by the previous user ${dropped === 1 ? 'was' : 'were'} not sent.`)
}

/** Shows a decision as made from now on, and sends it when its time to be undone is over. */
export function hold(user: Entry['user'], action: ActionName, subject: Subject, signature?: string): void {
  const { id, etag, reason } = subject
  const decision = {
    ...{ id, etag, idempotencyKey: crypto.randomUUID() },
    ...(reason !== undefined && { reason }),
    ...(signature !== undefined && { signature }),
  }
  outbox.hold({ user, action, decision, order: subject })
  mark(id, action)
}

/** Undoes the last decision that is held, or all. Returns the id of the first order that it was about. */
export function undo(which: 'last' | 'all'): string | undefined {
  const [first, ...others] = outbox.undo(which)
  if (first === undefined) {
    announce('Too late to undo: the decision may already have been sent.')
    return undefined
  }
  for (const { decision } of [first, ...others]) mark(decision.id, undefined)
  announce(
    others.length > 0
      ? `Undone. ${formatOrders(others.length + 1)} are pending again.`
      : undoneInWords(first),
  )
  return first.decision.id
}

function undoneInWords({ order }: Entry): string {
  // Others may have decided the order in the meantime.
  const status = queries.getQueryData(orderQuery(order.id).queryKey)?.order.status ?? order.status
  const word = shownAs(status).word.toLowerCase()
  return `Undone. ${orderInWords(order)} is ${status === order.status ? `${word} again` : `now ${word}`}.`
}

/** Whether something more happens with a decision of this person about the order. */
export function useIsOnItsWay(id: string): boolean {
  return outbox.use().some((entry) => entry.decision.id === id && isOpen(entry))
}

async function send(
  entry: Entry,
  report: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Progress> {
  const { user, action, decision } = entry
  const person = currentPerson()
  const service = serviceFor(action, user.userName)
  const request = { ...decision, mayHaveHappened: mayHaveHappened(entry) }
  // The next decision does not wait for it.
  const missing = (id: string) => service.missing(id).catch(() => undefined)
  const progress = await decideOne(request, { ...service, missing }, signal, report)
  if (person !== currentPerson()) return progress
  void ordersChanged(decision.id)
  if (progress.kind === 'decided') deselect([decision.id])
  else mark(decision.id, undefined)
  if (problemOf(failureOf(progress), 'permission-denied')) void refreshSession().catch(() => undefined)
  return progress
}
