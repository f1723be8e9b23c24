import { useEffect } from 'react'
import { orderTransitions } from '../../../../client/src/facts.ts'
import { fetchAntiforgeryToken } from '../../api/client.ts'
import { problemOf } from '../../api/problem.ts'
import { beforeSignOut, currentPerson, currentSession, onForget, refreshSession } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { orderInWords } from '../identity.ts'
import { ordersChanged } from '../queries.ts'
import type { ActionName } from '../states.ts'
import { mark } from './course.ts'
import { decideOne, failureOf, type Progress, type Subject } from './decisions.ts'
import { leftInBrowser } from './left.ts'
import { type Entry, mayHaveHappened, Outbox } from './outbox.ts'
import { deselect } from './selection.ts'
import { serviceFor } from './service.ts'

/** The one outbox of this page, whatever view is on the screen. */
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
  if (!isDone) announce('You are still signed in: some of your decisions could not be sent.')
  return isDone
})
// Before the session hears of it, which forgets everything.
addEventListener('pagehide', () => outbox.leave(), { capture: true })

/** A page that goes sends what is held, and has no time left to ask for the token. */
export function useReadyToSend(): void {
  useEffect(() => void fetchAntiforgeryToken().catch(() => undefined), [])
}

/** Shows it as decided from now on, and sends it when it can no longer be undone. */
export function hold(userId: number | string, action: ActionName, subject: Subject): void {
  const { id, etag, reason, customer, total, createdAtUtc } = subject
  const decision = { id, etag, idempotencyKey: crypto.randomUUID(), ...(reason !== undefined && { reason }) }
  outbox.hold({ userId, action, decision }, { id, customer, total, createdAtUtc })
  mark(id, action)
}

/** Undoes the last decision that is held. The id of its order; undefined when nothing is held. */
export function undo(): string | undefined {
  const entry = outbox.undo()
  if (entry === undefined) return undefined
  const { id } = entry.decision
  mark(id, undefined)
  const [state] = orderTransitions[entry.action].from
  announce(
    `Undone. ${entry.order ? orderInWords(entry.order) : 'The order'} is still ${state.toLowerCase()}.`,
  )
  return id
}

/** Whether this person has decided about the order, and that is on its way. */
export function useIsOnItsWay(id: string): boolean {
  return outbox.use().some(({ decision, state }) => decision.id === id && isOpen(state))
}

const isOpen = ({ kind }: Entry['state']) => kind === 'held' || kind === 'under-way'

async function send(
  { action, decision, state }: Entry,
  report: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Progress | undefined> {
  const session = currentSession()
  if (session.kind !== 'signed-in') return undefined
  const person = currentPerson()
  const request = { ...decision, mayHaveHappened: mayHaveHappened(state) }
  const service = serviceFor(action, session.user.userName)
  const progress = await decideOne(request, service, signal, report)
  if (person !== currentPerson()) return undefined
  void ordersChanged(decision.id)
  if (progress.kind === 'decided') deselect([decision.id])
  else mark(decision.id, undefined)
  if (problemOf(failureOf(progress), 'permission-denied')) void refreshSession().catch(() => undefined)
  return progress
}
