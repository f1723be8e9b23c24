import { useEffect, useRef, useState } from 'react'
import { currentPerson } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { dropDraft } from '../../ui/draft.ts'
import { pause } from '../../ui/pause.ts'
import { type Identity, orderInWords } from '../identity.ts'
import { untilAnswered } from '../retry.ts'
import { isStillThere, place, type Sending } from './form.ts'
import { createOrder } from './queries.ts'

/** The state of the creation. */
export type Attempt =
  | { kind: 'none' }
  /** `failure` is the reason for another try. `isSlow` means that the first answer takes long. */
  | { kind: 'trying'; failure?: unknown; isSlow?: boolean }
  /** `isUnclear`: a request was sent under this key, and no answer says whether it took effect. */
  | { kind: 'failed'; failure: unknown; isUnclear: boolean }
  | { kind: 'stopped'; isUnclear: boolean }
  /** Lasts until the view of the order appears: another press must not create another order. */
  | { kind: 'created' }

const slowMilliseconds = 2_000

/** Leads away from the form on the screen, if there is one. Another form may have sent the order. */
let leadAway: ((id: string) => void) | undefined

/** The keys of the orders that were announced. */
const announced = new Set<string>()

/** Called for each answer, even after `stop` or when its view has gone, so that every order is announced. */
export function arrive(order: Sending, id: string): void {
  if (order.person !== currentPerson()) return
  if (!announced.has(order.idempotencyKey)) announce(`${orderInWords(createdNow(order, id))} created`)
  announced.add(order.idempotencyKey)
  if (!isStillThere(order)) return
  dropDraft(place)
  leadAway?.(id)
}

function createdNow({ customer, total }: Sending, id: string): Identity {
  return { id, customer, total: Number(total), createdAtUtc: new Date().toISOString() }
}

/**
 * Creates one order at a time. After a passing failure, it tries again with the same key. `onCreated` returns
 * whether it leads away from the form; after that nothing more is created here.
 */
export function useCreation(onCreated: (id: string) => boolean) {
  const [attempt, setAttempt] = useState<Attempt>({ kind: 'none' })
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  useEffect(() => {
    const lead = (id: string) => {
      const isLeaving = onCreated(id)
      running.current = isLeaving ? new AbortController() : undefined
      setAttempt({ kind: isLeaving ? 'created' : 'none' })
    }
    leadAway = lead
    return () => {
      if (leadAway === lead) leadAway = undefined
    }
  }, [onCreated])
  useWarningBeforeClosing(attempt.kind === 'trying')

  async function start(order: Sending): Promise<void> {
    // A ref changes at once, unlike state: the second press of a double click comes before the next render.
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
    /** Removes an old failure; a running attempt continues. */
    forget: () => running.current ?? setAttempt({ kind: 'none' }),
  }
}

/** Never throws. Once `signal` aborts, it reports only the stop and does not try again. */
async function tryUntilSettled(
  order: Sending,
  signal: AbortSignal,
  report: (attempt: Attempt) => void,
): Promise<void> {
  const { sent } = order
  let isUnderWay = false
  signal.addEventListener('abort', () => {
    sent.mayHaveHappened ||= isUnderWay
    report({ kind: 'stopped', isUnclear: sent.mayHaveHappened })
  })
  report({ kind: 'trying' })
  const slow = setTimeout(() => report({ kind: 'trying', isSlow: true }), slowMilliseconds)
  async function create() {
    isUnderWay = true
    try {
      arrive(order, await createOrder(order))
    } finally {
      isUnderWay = false
      clearTimeout(slow)
    }
  }
  const onRetry = (failure: unknown) => report({ kind: 'trying', failure })
  const answer = await untilAnswered(create, { signal, pause, onRetry, sent })
  if (answer.kind === 'done') report({ kind: 'none' })
  if (answer.kind === 'failed') {
    report({ kind: 'failed', failure: answer.failure, isUnclear: sent.mayHaveHappened })
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
