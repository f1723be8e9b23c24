import type { FetchQueryOptions, QueryKey } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { orderStates } from '../../../../client/src/facts.ts'
import { problemOf } from '../../api/problem.ts'
import { queries } from '../../api/queries.ts'
import { changesOfHands, refreshSession, useUser } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { pause } from '../../ui/pause.ts'
import { missingOf } from '../approvals.ts'
import { orderInWords } from '../identity.ts'
import type { VersionedOrder } from '../order.ts'
import { approvalsQuery, newIdempotencyKey, orderQuery, ordersChanged } from '../queries.ts'
import { words } from '../states.ts'
import { dropWritten } from '../written.ts'
import {
  type Decisions,
  failureOf,
  prepareDecisions,
  type Service,
  type Snapshot,
  type Subject,
} from './decisions.ts'
import type { Deed } from './deeds.ts'
import { deselect } from './selection.ts'
import { type Ending, endingOf, isApproved, neededWords } from './words.ts'

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

/**
 * Decides, and tells the rest of the app. False: the person who asked is gone, and nothing is told to the next one.
 */
export async function settle(decisions: Decisions): Promise<boolean> {
  const hands = changesOfHands()
  await decisions.start()
  if (hands !== changesOfHands()) return false
  deselect(settledOf(decisions))
  void ordersChanged()
  if (mayNoMore(decisions)) void refreshSession().catch(() => undefined)
  return true
}

/** Where the reason is written. */
export const placeOf = ({ name }: Deed, id: string) => `${name} ${id}`

export function serviceFor(deed: Deed, userName: string): Service {
  const hands = changesOfHands()
  const readAnew = async <Data, Key extends QueryKey>(query: FetchQueryOptions<Data, Error, Data, Key>) => {
    // One that is under way may have been asked before the change.
    await queries.cancelQueries({ queryKey: query.queryKey })
    return queries.fetchQuery({ ...query, staleTime: 0, retry: false })
  }
  return {
    newKey: newIdempotencyKey,
    async decide(decision) {
      await deed.send(decision)
      dropWritten(placeOf(deed, decision.id))
    },
    async missing(id) {
      const missing = deed.to === 'Approved' ? missingOf(await readAnew(approvalsQuery(id))) : 0
      if (missing === 0 && hands === changesOfHands()) showDecided(id, deed, userName)
      return missing
    },
    read: (id) => readAnew(orderQuery(id)),
    pause,
  }
}

/** At once, without the time, which only the service knows: it is asked when all is done. */
function showDecided(id: string, { to }: Deed, userName: string): void {
  const stamp = { modifiedBy: userName, updatedAtUtc: null, updatedAtTimeZone: null }
  queries.setQueryData(
    orderQuery(id).queryKey,
    (known): VersionedOrder | undefined =>
      known && { ...known, order: { ...known.order, ...stamp, status: orderStates[to] } },
  )
}

/** Then the rest of the app should know it, too. */
function mayNoMore(decisions: Decisions): boolean {
  const { steps } = decisions.snapshot.get()
  return steps.some(({ progress }) => problemOf(failureOf(progress), 'permission-denied'))
}

function decidedOf(decisions: Decisions): string[] {
  const { steps } = decisions.snapshot.get()
  return steps.filter(({ progress }) => progress.kind === 'decided').map(({ subject }) => subject.id)
}

const open: readonly (Ending | undefined)[] = [
  'changed',
  'denied',
  'failed',
  'unclear',
  'untouched',
  undefined,
]

/** Of these there is nothing left to do for this person, whoever did it. */
function settledOf(decisions: Decisions): string[] {
  const { steps } = decisions.snapshot.get()
  return steps.filter(({ progress }) => !open.includes(endingOf(progress))).map(({ subject }) => subject.id)
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
