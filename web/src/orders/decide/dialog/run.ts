import { useEffect, useRef, useState } from 'react'
import { useUser } from '../../../auth/session.ts'
import { announce } from '../../../ui/announce.ts'
import { orderInWords } from '../../identity.ts'
import type { ActionName } from '../../states.ts'
import { doneWord } from '../actions.ts'
import { type Decisions, prepareDecisions, type Snapshot, type Subject } from '../decisions.ts'
import { serviceFor, settle } from '../service.ts'
import { type Touch, useTouch } from '../touch.ts'
import { isDone, neededWords } from '../words.ts'

export interface Run extends Snapshot {
  action: ActionName
  touch: Touch
  /** Sends the decisions. Another call uses the same keys. */
  start(): void
  /**
   * Decides on another version, or with another reason. That is a different request, so it gets a new key.
   */
  startInstead(...subjects: Subject[]): void
  stop(): void
  close(): void
}

/**
 * One opening of the dialog. Closing it or leaving the view stops the run. The answers to what was already
 * sent are awaited and announced.
 */
export function useRun(
  action: ActionName,
  subjects: readonly Subject[],
  onClose: (result: { decided: string[] }) => void,
): Run {
  const { userName } = useUser()
  const prepare = (of: readonly Subject[]) => prepareDecisions(of, serviceFor(action, userName, of))
  const [decisions, setDecisions] = useState(() => prepare(subjects))
  const snapshot = decisions.snapshot.use()
  const { touch, ask } = useTouch()
  const isOpen = useRef(true)
  // A ref changes at once, unlike state: the second press of a double click comes before the next render.
  const isUnderWay = useRef(false)
  useEffect(() => {
    isOpen.current = true
    return () => {
      isOpen.current = false
      decisions.stop()
    }
  }, [decisions])

  function close(of: Decisions = decisions) {
    onClose({ decided: decidedOf(of) })
  }
  async function decide(next: Decisions): Promise<boolean> {
    const signatures = await ask(action, next.toSign())
    return signatures !== undefined && settle(next, action, signatures)
  }
  async function run(next: Decisions) {
    if (isUnderWay.current) return
    isUnderWay.current = true
    setDecisions(next)
    const isSettled = await decide(next)
    isUnderWay.current = false
    if (!isSettled) return
    // Once a single order is decided, the dialog has nothing more to say. Several orders end with a summary.
    const isSaid = next.snapshot.get().steps.length === 1 && decidedOf(next).length === 1
    if (isOpen.current && !isSaid) return
    if (isOpen.current) close(next)
    announce(resultOf(action, next.snapshot.get()))
  }
  return {
    ...snapshot,
    action,
    touch,
    start: () => void run(decisions),
    startInstead: (...instead) => void run(prepare(instead)),
    stop: decisions.stop,
    close: () => close(),
  }
}

/**
 * Closes the dialog, by the first button or Escape. The button's name says what closing does at the moment.
 */
export interface Back {
  name: string
  go(): void
}

export function backOf(run: Run): Back {
  const close = { name: 'Close', go: run.close }
  if (run.phase === 'asking') return { ...close, name: 'Cancel' }
  if (run.phase !== 'running') return close
  const [first, ...others] = run.steps
  if (others.length > 0) return { name: 'Stop', go: run.stop }
  return first?.progress.kind === 'retrying' ? { name: 'Stop trying', go: run.stop } : close
}

function decidedOf(decisions: Decisions): string[] {
  const { steps } = decisions.snapshot.get()
  return steps.filter(({ progress }) => progress.kind === 'decided').map(({ subject }) => subject.id)
}

/** The message for a result that arrives after the dialog was closed. */
export function resultOf(action: ActionName, { steps }: Snapshot): string {
  const done = doneWord(action)
  const [first, ...others] = steps
  if (first === undefined || others.length > 0) {
    return `${steps.filter(isDone).length} of ${steps.length} orders ${done}`
  }
  const order = orderInWords(first.subject)
  const { progress } = first
  if (progress.kind === 'unclear') return `${order} may have been ${done}: there was no clear answer`
  if (progress.kind !== 'decided') return `${order} not ${done}`
  return isDone(first) ? `${order} ${done}` : `${order} approved by you, ${neededWords(progress.missing)}`
}
