import { useEffect, useRef, useState } from 'react'
import { problemOf } from '../../api/problem.ts'
import { queries } from '../../api/queries.ts'
import { changesOfHands, refreshSession, useUser } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { pause } from '../../ui/pause.ts'
import { orderInWords } from '../identity.ts'
import type { VersionedOrder } from '../order.ts'
import { approveOrder, newIdempotencyKey, orderQuery, ordersChanged } from '../queries.ts'
import { approved } from '../states.ts'
import {
  type Approvals,
  failureOf,
  prepareApprovals,
  type Service,
  type Snapshot,
  type Subject,
} from './approvals.ts'
import { deselect } from './selection.ts'
import { endingOf, isApproved } from './words.ts'

export interface Run extends Snapshot {
  approve(): void
  /** Asks about another version, and approves it: under a new key, for it is another request. */
  approveInstead(subject: Subject): void
  stop(): void
  close(): void
}

/**
 * One opening of the dialog. Closing it stops the run, and so does leaving the view; what was already sent is still
 * waited for, and its result announced.
 */
export function useRun(subjects: readonly Subject[], onClose: (result: { approved: string[] }) => void): Run {
  const { userName } = useUser()
  const [approvals, setApprovals] = useState(() => prepareApprovals(subjects, serviceFor(userName)))
  const snapshot = approvals.snapshot.use()
  const isOpen = useRef(true)
  useEffect(() => {
    isOpen.current = true
    return () => {
      isOpen.current = false
      approvals.stop()
    }
  }, [approvals])

  function close(of: Approvals = approvals) {
    const ids = approvedOf(of).map(({ id }) => id)
    onClose({ approved: ids })
  }
  async function run(next: Approvals) {
    if (!(await settle(next))) return
    // The one order is approved: the dialog has nothing more to say. Several end with a summary.
    const isSaid = next.snapshot.get().steps.length === 1 && approvedOf(next).length === 1
    if (isOpen.current && !isSaid) return
    if (isOpen.current) close(next)
    // While the dialog is there, screen readers do not hear what is said outside of it.
    setTimeout(() => announce(wordsFor(next.snapshot.get())), 100)
  }
  return {
    ...snapshot,
    approve: () => void run(approvals),
    approveInstead(subject) {
      const next = prepareApprovals([subject], serviceFor(userName))
      setApprovals(next)
      void run(next)
    },
    stop: approvals.stop,
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

/**
 * Approves, and tells the rest of the app. False: the person who asked is gone, and nothing is told to the next one.
 */
export async function settle(approvals: Approvals): Promise<boolean> {
  const hands = changesOfHands()
  await approvals.start()
  if (hands !== changesOfHands()) return false
  deselect(settledOf(approvals))
  void ordersChanged()
  if (mayNoMore(approvals)) void refreshSession().catch(() => undefined)
  return true
}

export function serviceFor(userName: string): Service {
  const hands = changesOfHands()
  return {
    newKey: newIdempotencyKey,
    async approve(approval) {
      await approveOrder(approval)
      if (hands === changesOfHands()) showApproved(approval.id, userName)
    },
    async read(id) {
      // One that is under way may have been asked before the other person's change.
      await queries.cancelQueries({ queryKey: orderQuery(id).queryKey })
      return queries.fetchQuery({ ...orderQuery(id), staleTime: 0, retry: false })
    },
    pause,
  }
}

/** At once, without the time, which only the service knows: it is asked when all is done. */
function showApproved(id: string, userName: string): void {
  const stamp = { modifiedBy: userName, updatedAtUtc: null, updatedAtTimeZone: null }
  queries.setQueryData(
    orderQuery(id).queryKey,
    (known): VersionedOrder | undefined =>
      known && { ...known, order: { ...known.order, ...stamp, status: approved } },
  )
}

/** Then the rest of the app should know it, too. */
function mayNoMore(approvals: Approvals): boolean {
  const { steps } = approvals.snapshot.get()
  return steps.some(({ progress }) => problemOf(failureOf(progress), 'permission-denied'))
}

function approvedOf(approvals: Approvals): Subject[] {
  const { steps } = approvals.snapshot.get()
  return steps.filter(isApproved).map(({ subject }) => subject)
}

/** Of these there is nothing left to approve, by whomever it was done. */
function settledOf(approvals: Approvals): string[] {
  const { steps } = approvals.snapshot.get()
  const settled = steps.filter(({ progress }) => {
    const ending = endingOf(progress)
    return ending === 'approved' || ending === 'already' || ending === 'gone'
  })
  return settled.map(({ subject }) => subject.id)
}

/** For a result that comes when the dialog is closed. */
function wordsFor({ steps }: Snapshot): string {
  const count = steps.filter(isApproved).length
  const [first, ...others] = steps
  if (first === undefined || others.length > 0) return `${count} of ${steps.length} orders approved`
  const order = orderInWords(first.subject)
  if (count === 1) return `${order} approved`
  return first.progress.kind === 'unclear'
    ? `${order}: no clear answer, it may have been approved`
    : `${order} not approved`
}
