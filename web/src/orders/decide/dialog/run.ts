import { useEffect, useRef, useState } from 'react'
import { useUser } from '../../../auth/session.ts'
import { announce } from '../../../ui/announce.ts'
import { orderInWords } from '../../identity.ts'
import { words } from '../../states.ts'
import type { Deed } from '../actions.ts'
import { type Decisions, prepareDecisions, type Snapshot, type Subject } from '../decisions.ts'
import { serviceFor, settle } from '../service.ts'
import { isApproved, neededWords } from '../words.ts'

export interface Run extends Snapshot {
  deed: Deed
  /** Sends; again: under the same keys. */
  start(): void
  /** Another version, or with another reason: under a new key, for it is another request. */
  startInstead(subject: Subject): void
  stop(): void
  close(): void
}

/**
 * One opening of the dialog. Closing it stops the run, and so does leaving the view; what was already sent is still
 * waited for, and its result announced.
 */
export function useRun(
  deed: Deed,
  subjects: readonly Subject[],
  onClose: (result: { decided: string[] }) => void,
): Run {
  const { userName } = useUser()
  const [decisions, setDecisions] = useState(() => prepareDecisions(subjects, serviceFor(deed, userName)))
  const snapshot = decisions.snapshot.use()
  const isOpen = useRef(true)
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
  async function run(next: Decisions) {
    if (!(await settle(next))) return
    // The one order is decided: the dialog has nothing more to say. Several end with a summary.
    const isSaid = next.snapshot.get().steps.length === 1 && decidedOf(next).length === 1
    if (isOpen.current && !isSaid) return
    if (isOpen.current) close(next)
    announce(wordsFor(deed, next.snapshot.get()))
  }
  return {
    ...snapshot,
    deed,
    start: () => void run(decisions),
    startInstead(subject) {
      const next = prepareDecisions([subject], serviceFor(deed, userName))
      setDecisions(next)
      void run(next)
    },
    stop: decisions.stop,
    close: () => close(),
  }
}

/** The way out, under the name of what it does at the moment; the first button, and Escape. */
export interface Back {
  name: string
  go(): void
}

export function backOf(run: Run): Back {
  const [first] = run.steps
  if (run.phase === 'asking') return { name: 'Cancel', go: run.close }
  if (run.phase !== 'running') return { name: 'Close', go: run.close }
  if (run.steps.length > 1) return { name: 'Stop', go: run.stop }
  if (first?.progress.kind === 'retrying') return { name: 'Stop trying', go: run.stop }
  return { name: 'Close', go: run.close }
}

function decidedOf(decisions: Decisions): string[] {
  const { steps } = decisions.snapshot.get()
  return steps.filter(({ progress }) => progress.kind === 'decided').map(({ subject }) => subject.id)
}

/** For a result that comes when the dialog is closed. */
function wordsFor({ to }: Deed, { steps }: Snapshot): string {
  const [first, ...others] = steps
  if (first === undefined || others.length > 0) {
    return `${steps.filter(isApproved).length} of ${steps.length} orders approved`
  }
  const order = orderInWords(first.subject)
  const { progress } = first
  const done = words[to].meaning
  if (progress.kind === 'unclear') return `${order}: no clear answer, it may have been ${done}`
  if (progress.kind !== 'decided') return `${order} not ${done}`
  if (progress.missing === 0) return `${order} ${done}`
  return `${order}: approved by you, ${neededWords(progress.missing)}`
}
