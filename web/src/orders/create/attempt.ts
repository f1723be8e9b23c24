import { useEffect, useRef, useState } from 'react'
import { isPassing, mayHaveHappened, retryDelayMilliseconds } from '../../api/problem.ts'
import { changesOfHands } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { pause } from '../../ui/pause.ts'
import { type Identity, orderInWords } from '../identity.ts'
import { dropDraft, isStillDraft, type Sending } from './draft.ts'
import { createOrder } from './queries.ts'

/** How the creation stands. */
export type Attempt =
  | { kind: 'none' }
  /** `failure` is why it is tried again; `isSlow` when the first answer is long in coming. */
  | { kind: 'trying'; failure?: unknown; isSlow?: boolean }
  /** `isUnclear`: a request left under this key, and no answer tells what became of it. */
  | { kind: 'failed'; failure: unknown; isUnclear: boolean }
  | { kind: 'stopped'; isUnclear: boolean }
  /** Until the view of the order is there: another press must not begin another one. */
  | { kind: 'created' }

const slowMilliseconds = 2_000

/** Leads away from the form that is on the screen now, if one is: not always the one that sent the order. */
let leadAway: ((id: string) => void) | undefined

/** By their keys: the orders that the person was told of. */
const told = new Set<string>()

/** Called for each answer, also when it comes after `stop` or after its view went: the person hears of every order. */
export function arrive(order: Sending, id: string): void {
  if (order.hands !== changesOfHands()) return
  if (!told.has(order.idempotencyKey)) announce(`${orderInWords(createdNow(order, id))} created`)
  told.add(order.idempotencyKey)
  if (!isStillDraft(order)) return
  dropDraft()
  leadAway?.(id)
}

function createdNow({ customer, total }: Sending, id: string): Identity {
  return { id, customer, total: Number(total), createdAtUtc: new Date().toISOString() }
}

/**
 * Creates one order at a time, and tries again by itself while the failure is passing, always with the same key.
 * `leadTo` takes the person to the new order; from then on nothing more is created here.
 */
export function useCreation(leadTo: (id: string) => void) {
  const [attempt, setAttempt] = useState<Attempt>({ kind: 'none' })
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  useEffect(() => {
    const lead = (id: string) => {
      running.current = new AbortController()
      setAttempt({ kind: 'created' })
      leadTo(id)
    }
    leadAway = lead
    return () => {
      if (leadAway === lead) leadAway = undefined
    }
  }, [leadTo])
  useWarningBeforeClosing(attempt.kind === 'trying')

  async function start(order: Sending): Promise<void> {
    // Read at once, unlike state: the second press of a double click arrives before the next rendering.
    if (running.current !== undefined) return
    const controller = new AbortController()
    running.current = controller
    await tryUntilSettled(order, controller.signal, (next) => {
      if (running.current !== controller) return
      setAttempt(next)
      if (next.kind !== 'trying') running.current = undefined
    })
  }

  return {
    attempt,
    start,
    stop: () => running.current?.abort(),
    /** Takes an old failure away; a running attempt goes on. */
    forget: () => running.current ?? setAttempt({ kind: 'none' }),
  }
}

/** Never throws. After `signal` it tells of nothing but the stop, and tries no more. */
async function tryUntilSettled(
  order: Sending,
  signal: AbortSignal,
  tell: (attempt: Attempt) => void,
): Promise<void> {
  const { past } = order
  let isSent = false
  signal.addEventListener('abort', () => {
    past.mayHaveHappened ||= isSent
    tell({ kind: 'stopped', isUnclear: past.mayHaveHappened })
  })
  tell({ kind: 'trying' })
  const slow = setTimeout(() => tell({ kind: 'trying', isSlow: true }), slowMilliseconds)
  for (let tries = 0; !signal.aborted; tries += 1) {
    try {
      isSent = true
      arrive(order, await createOrder(order))
      return tell({ kind: 'none' })
    } catch (failure) {
      isSent = false
      past.mayHaveHappened ||= mayHaveHappened(failure)
      if (!isPassing(failure)) return tell({ kind: 'failed', failure, isUnclear: past.mayHaveHappened })
      tell({ kind: 'trying', failure })
      await pause(retryDelayMilliseconds(tries, failure), signal)
    } finally {
      clearTimeout(slow)
    }
  }
}

function useWarningBeforeClosing(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return undefined
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isOn])
}
