import { useEffect } from 'react'
import { fetchAntiforgeryToken } from '../../api/client.ts'
import { problemOf } from '../../api/problem.ts'
import {
  beforeSignOut,
  changesOfHands,
  currentSession,
  onForget,
  refreshSession,
} from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { orderInWords } from '../identity.ts'
import { ordersChanged } from '../queries.ts'
import { type DeedName, deeds } from './actions.ts'
import { mark } from './course.ts'
import { decideOne, failureOf, type Progress, type Subject } from './decisions.ts'
import { leftInBrowser } from './left.ts'
import { type Entry, Outbox } from './outbox.ts'
import { deselect } from './selection.ts'
import { serviceFor } from './service.ts'

/** Of this page; whichever view is on the screen. */
export const outbox = new Outbox({
  now: Date.now,
  after(milliseconds, act) {
    const timer = setTimeout(act, milliseconds)
    return () => clearTimeout(timer)
  },
  send,
  kept: leftInBrowser,
})

const signOutMilliseconds = 5_000

onForget(() => outbox.forget())
beforeSignOut(async ({ id }) => {
  const isDone = await outbox.flush(id, signOutMilliseconds)
  if (!isDone) announce('You are still signed in: not all of your decisions could be sent.')
  return isDone
})
// Before the session hears of it, which forgets everything.
addEventListener('pagehide', () => outbox.leave(), { capture: true })

/** Of a review: a page that goes sends what is held, and has no time left to ask for the token. */
export function useReadyToSend(): void {
  useEffect(() => void fetchAntiforgeryToken().catch(() => undefined), [])
}

/** Shows it as decided from now on, and sends it when it can no longer be taken back. */
export function hold(userId: number | string, deed: DeedName, subject: Subject): void {
  const { id, etag, reason, customer, total, createdAtUtc } = subject
  const decision = { id, etag, idempotencyKey: crypto.randomUUID(), ...(reason !== undefined && { reason }) }
  outbox.hold({ userId, deed, decision }, { id, customer, total, createdAtUtc })
  mark(id, deed)
}

/** The id of the order that is not decided any more; undefined when nothing is held. */
export function takeBack(): string | undefined {
  const entry = outbox.takeBack()
  if (entry === undefined) return undefined
  const { id } = entry.decision
  mark(id, undefined)
  announce(`Taken back. ${entry.order ? orderInWords(entry.order) : 'The order'} is as it was.`)
  return id
}

/** Whether this person has decided about the order, and that is on its way. */
export function useIsOnItsWay(id: string): boolean {
  return outbox.use().some(({ decision, state }) => decision.id === id && isOpen(state))
}

const isOpen = ({ kind }: Entry['state']) => kind === 'held' || kind === 'under-way'

async function send(
  { deed, decision, state }: Entry,
  tell: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Progress | undefined> {
  const session = currentSession()
  if (session.kind !== 'signed-in') return undefined
  const hands = changesOfHands()
  const isUnclear = state.kind === 'left' || (state.kind === 'failed' && state.progress.kind === 'unclear')
  const request = { ...decision, mayHaveHappened: isUnclear }
  const service = serviceFor(deeds[deed], session.user.userName)
  const progress = await decideOne(request, service, signal, tell)
  if (hands !== changesOfHands()) return undefined
  void ordersChanged(decision.id)
  if (progress.kind === 'decided') deselect([decision.id])
  else mark(decision.id, undefined)
  if (problemOf(failureOf(progress), 'permission-denied')) void refreshSession().catch(() => undefined)
  return progress
}
