import { problemOf } from '../../api/problem.ts'
import { queries } from '../../api/queries.ts'
import { currentPerson, currentSession, onForget, refreshSession, type User } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { formatOrders } from '../../ui/format.ts'
import { orderInWords } from '../identity.ts'
import { canUndo, failureOf, isOpen, Outbox, type Step, type Try, unsentUnder } from '../outbox.ts'
import { orderQuery, ordersChanged } from '../queries.ts'
import { type ActionName, shownAs } from '../states.ts'
import { mark } from './course.ts'
import { decideOne, type Outcome, type Subject } from './decisions.ts'
import { deselect } from './selection.ts'
import { serviceFor } from './service.ts'
import { decisionsInWords } from './words.ts'

/** A decision that was made without a question. */
export interface Made extends Subject {
  user: Pick<User, 'id' | 'userName'>
  action: ActionName
}

export type Entry = Step<Made, Outcome>

export const undoMilliseconds = 5_000

/**
 * The one outbox of decisions of this page, whatever view is on the screen. A decision is held for five
 * seconds. Until it is sent it can be undone, however long it waits for the connection or for the person to
 * sign in again. They are sent one at a time, so a lost connection leaves at most one whose fate is unknown.
 */
export const outbox = new Outbox<Made, Outcome>({ noun: 'decision', isPatient: true, atATime: 1, send })

onForget(() => {
  const session = currentSession()
  if (session.kind === 'anonymous' && session.ending === 'signed-out') outbox.clear()
  else outbox.stop()
})
addEventListener('online', () => outbox.go())
addEventListener('pagehide', () => outbox.clear())

/** Called when a person is there: continues with their decisions, and drops those of anyone else. */
export function takeUp(userId: User['id']): void {
  const isForeign = ({ subject }: Entry) => subject.user.id !== userId
  const dropped = outbox.snapshot.get().steps.filter((step) => isForeign(step) && canUndo(step)).length
  outbox.remove(isForeign)
  outbox.holdAll(undoMilliseconds)
  if (dropped === 0) return
  announce(`${decisionsInWords(dropped)} by the previous user ${dropped === 1 ? 'was' : 'were'} not sent.`)
}

/** Sends the decision when its time to be undone is over. One about the same order comes first. */
export function hold(user: Made['user'], action: ActionName, subject: Subject): void {
  const isSame = (step: Entry) => isOpen(step) && step.subject.id === subject.id
  if (outbox.snapshot.get().steps.some(isSame)) return
  outbox.hold({ ...subject, user, action }, unsentUnder(), undoMilliseconds)
  void outbox.rest().then(sayHowMany)
}

/** Sends a decision that failed once more. */
export function sendAgain(entry: Entry): void {
  outbox.send((step) => step === entry)
  void outbox.rest().then(sayHowMany)
}

function sayHowMany(): void {
  const isDecided = ({ progress }: Entry) => progress.kind === 'decided'
  const { length } = outbox.snapshot.get().steps.filter(isDecided)
  if (length === 0) return
  outbox.remove(isDecided)
  announce(`${decisionsInWords(length)} sent.`)
}

/** Undoes the last decision that is held, or all. Returns the id of the first order that it was about. */
export function undo(which: 'last' | 'all'): string | undefined {
  const undone = outbox.snapshot
    .get()
    .steps.filter(canUndo)
    .slice(which === 'last' ? -1 : 0)
  const [first, ...others] = undone
  if (first === undefined) {
    announce('Too late to undo: the decision may already have been sent.')
    return undefined
  }
  outbox.remove((step) => undone.includes(step))
  announce(
    others.length > 0
      ? `Undone. ${formatOrders(others.length + 1)} are pending again.`
      : undoneInWords(first.subject),
  )
  return first.subject.id
}

function undoneInWords(order: Subject): string {
  // Others may have decided the order in the meantime.
  const status = queries.getQueryData(orderQuery(order.id).queryKey)?.order.status ?? order.status
  const word = shownAs(status).word.toLowerCase()
  return `Undone. ${orderInWords(order)} is ${status === order.status ? `${word} again` : `now ${word}`}.`
}

/** This person's unanswered decisions, by the id of the order. */
export function useOnItsWay(): ReadonlyMap<string, ActionName> {
  const { steps } = outbox.snapshot.use()
  return new Map(steps.filter(isOpen).map(({ subject: { id, action } }) => [id, action]))
}

async function send({ subject: made, sent }: Entry, tryIt: Try): Promise<Outcome | { kind: 'waiting' }> {
  const { id, action, user } = made
  const person = currentPerson()
  const service = serviceFor(action, user.userName, [made])
  // The next decision does not wait for it.
  const missing = () => service.missing(id).catch(() => undefined)
  const end = await decideOne({ subject: made, sent }, { ...service, missing }, tryIt)
  if (person !== currentPerson()) return end
  void ordersChanged(id)
  if (end.kind === 'decided') {
    deselect([id])
    mark(id, action)
  }
  if (problemOf(failureOf(end), 'permission-denied')) void refreshSession().catch(() => undefined)
  return end
}
