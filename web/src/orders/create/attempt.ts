import { useEffect, useState } from 'react'
import { isPassing } from '../../api/problem.ts'
import { currentPerson } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { useIsLong } from '../../ui/calm.ts'
import { dropDraft } from '../../ui/draft.ts'
import { observable } from '../../ui/observable.ts'
import { addFiles } from '../documents/uploads.ts'
import { orderInWords } from '../identity.ts'
import { type Answer, failureOf, Outbox, type Snapshot } from '../outbox.ts'
import { filesPlace, isStillThere, place, type Sending } from './form.ts'
import { createOrder } from './queries.ts'

export type Attempt =
  | { kind: 'none' }
  /** `failure` is the reason for another try. `isSlow` means that the first answer takes long. */
  | { kind: 'trying'; failure?: unknown; isSlow?: boolean }
  /** `isUnclear`: a request was sent under this key, and no answer says whether it took effect. */
  | { kind: 'failed'; failure: unknown; isUnclear: boolean }
  | { kind: 'stopped'; isUnclear: boolean }
  /** Lasts until the view of the order appears: another press must not create another order. */
  | { kind: 'created' }

type Course = Snapshot<Sending, Answer<string>>

const slowMilliseconds = 2_000

/** Leads away from the form on the screen, if there is one. Another form may have sent the order. */
let leadAway: ((id: string) => void) | undefined

/** The keys of the orders that were announced. */
const announced = new Set<string>()

/** Called for each answer, even after `stop` or when its view has gone, so that every order is announced. */
export function arrive(order: Sending, id: string): void {
  const { idempotencyKey } = order.sent
  if (order.person !== currentPerson()) return
  if (!announced.has(idempotencyKey)) {
    announce(`${orderInWords(order)} created`)
    addFiles(id, order.files)
  }
  announced.add(idempotencyKey)
  if (!isStillThere(order)) return
  dropDraft(place)
  dropDraft(filesPlace)
  leadAway?.(id)
}

/** For one order at a time. */
export const prepareCreation = () =>
  new Outbox<Sending, Answer<string>>({
    noun: 'order',
    isPatient: false,
    atATime: 1,
    send: ({ subject: order, sent }, tryIt) =>
      tryIt(async () => {
        const id = await createOrder({ ...order, idempotencyKey: sent.idempotencyKey })
        arrive(order, id)
        return id
      }, sent),
  })

/**
 * Creates one order at a time. `onCreated` returns whether it leads away from the form; after that nothing
 * more is created here.
 */
export function useCreation(onCreated: (id: string) => boolean) {
  const [outbox] = useState(prepareCreation)
  const [isLeaving] = useState(() => observable(false))
  const course = outbox.snapshot.use()
  const isSlow = useIsLong(course.phase === 'running', slowMilliseconds)
  useEffect(() => () => outbox.stop(), [outbox])
  useEffect(() => {
    const lead = (id: string) => isLeaving.set(onCreated(id))
    leadAway = lead
    return () => {
      if (leadAway === lead) leadAway = undefined
    }
  }, [onCreated, isLeaving])

  return {
    attempt: isLeaving.use() ? ({ kind: 'created' } as const) : attemptOf(course, isSlow),
    start(order: Sending): void {
      // The second press of a double click comes before the next render.
      if (outbox.snapshot.get().phase === 'running' || isLeaving.get()) return
      outbox.load([{ subject: order, sent: order.sent }])
      outbox.send()
    },
    stop: () => outbox.stop(),
    /** Removes what is said of the last order. */
    forget: () => outbox.load([]),
  }
}

function attemptOf({ phase, steps: [step] }: Course, isSlow: boolean): Attempt {
  if (step === undefined || step.progress.kind === 'done') return { kind: 'none' }
  const { progress, sent } = step
  const isUnclear = sent.mayHaveHappened
  if (phase === 'running') return { kind: 'trying', isSlow, failure: failureOf(progress) }
  if (progress.kind === 'sending') return { kind: 'stopped', isUnclear: true }
  const failure = failureOf(progress)
  return failure === undefined || isPassing(failure)
    ? { kind: 'stopped', isUnclear }
    : { kind: 'failed', failure, isUnclear }
}
