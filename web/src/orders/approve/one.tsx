import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { Heading } from 'react-aria-components/Dialog'
import { isPassing, NoAnswerError, problemOf } from '../../api/problem.ts'
import { describeFailure } from '../../ui/describe.ts'
import { formatTotal } from '../../ui/format.ts'
import { Name } from '../../ui/name.tsx'
import { Note } from '../../ui/note.tsx'
import type { VersionedOrder } from '../order.ts'
import { Particulars } from '../particulars.tsx'
import { orderQuery } from '../queries.ts'
import { approved, pending } from '../states.ts'
import { isWorthTrying, type Progress, type Step } from './approvals.ts'
import { WhatChanged } from './changed.tsx'
import type { Back, Run } from './run.ts'
import { stoppingWords } from './words.ts'

/** The question about one order, and what is told when somebody else was faster. */
export function ApproveOne({ run, step, back }: { run: Run; step: Step; back: Back }) {
  const { subject, progress } = step
  const now = useOrderNow(run.phase, step)
  const backButton = useRef<HTMLButtonElement>(null)
  const primary = primaryOf(run, progress, now)
  const words = now ? undefined : wordsFor(run, progress)
  // Keeps the focus, unlike one that is disabled.
  const isRunning = run.phase === 'running' || run.phase === 'stopping'
  const hasPrimary = primary !== undefined
  useEffect(() => {
    // What was focused is gone, or means something else now.
    if (now !== undefined || !hasPrimary) backButton.current?.focus()
  }, [now, hasPrimary])
  return (
    <>
      <Heading slot="title" level={2}>
        {titleOf(progress, now)}
      </Heading>
      <div id="approve-description" className="approve-description">
        {now ? (
          <WhatChanged before={subject} now={now.order} wasSent={progress.kind === 'unclear'} />
        ) : (
          <Question {...step} />
        )}
      </div>
      <div role="status">
        {isRunning && <span className="visually-hidden">Approving …</span>}
        {words && <Note kind="warning" title={words.title} lines={[words.detail, words.more]} />}
      </div>
      <div className="row dialog-actions">
        <Button ref={backButton} className="button" autoFocus onPress={back.go}>
          {now ? 'Close' : back.name}
        </Button>
        {primary && (
          <Button className="button button-primary" aria-disabled={isRunning} onPress={primary.act}>
            {primary.name}
          </Button>
        )}
      </div>
    </>
  )
}

/**
 * The order as somebody else left it: found out by trying, or seen while the person still reads the question. After
 * an answer that never came, it may be the person's own approval that is seen.
 */
function useOrderNow(phase: Run['phase'], { subject, progress }: Step): VersionedOrder | undefined {
  const { data } = useQuery({ ...orderQuery(subject.id), enabled: false })
  if (progress.kind === 'refused') return progress.now
  const isOther = subject.etag !== undefined && data?.etag !== undefined && data.etag !== subject.etag
  const mayShow = phase === 'asking' || progress.kind === 'unclear'
  return mayShow && isOther ? data : undefined
}

function Question({ subject, progress }: Step) {
  return (
    <>
      <dl className="approve-order">
        <dt className="visually-hidden">Customer</dt>
        <dd className="approve-customer">
          <Name of={subject.customer} />
        </dd>
        <dt className="visually-hidden">Total</dt>
        <dd className="large-total">{formatTotal(subject.total)}</dd>
        <dt className="visually-hidden">Number and time of creation</dt>
        <dd>
          <Particulars order={subject} />
        </dd>
      </dl>
      {progress.kind !== 'refused' && <p>It will be approved in your name. This cannot be undone.</p>}
    </>
  )
}

function titleOf(progress: Progress, now: VersionedOrder | undefined): string {
  if (now && now.order.status !== approved) return 'This order has changed'
  if (now) return progress.kind === 'unclear' ? 'This order is approved' : 'This order is already approved'
  if (progress.kind !== 'refused' && progress.kind !== 'unclear') return 'Approve this order?'
  const { failure } = progress
  if (progress.kind === 'unclear') return titleOfDoubt(failure)
  if (problemOf(failure, 'order-not-found')) return 'This order no longer exists'
  if (problemOf(failure, 'permission-denied')) return 'You can no longer approve orders'
  return isWorthTrying(progress) ? 'That did not work' : 'The order was not approved'
}

function titleOfDoubt(failure: unknown): string {
  return failure instanceof NoAnswerError ? 'There was no answer' : 'There was no clear answer'
}

interface Primary {
  name: string
  act(): void
}

function primaryOf(run: Run, progress: Progress, now: VersionedOrder | undefined): Primary | undefined {
  if (now) {
    if (now.order.status !== pending) return undefined
    const act = () => run.approveInstead({ ...now.order, etag: now.etag })
    return { name: 'Approve this version', act }
  }
  if (run.phase === 'asking') return { name: 'Approve', act: run.approve }
  if (run.phase !== 'done') return { name: 'Approving …', act: () => undefined }
  return isWorthTrying(progress) ? { name: 'Try again', act: run.approve } : undefined
}

interface Words {
  title?: string
  detail: string
  more?: string
}

function wordsFor({ phase, steps }: Run, progress: Progress): Words | undefined {
  if (phase === 'stopping') return { detail: stoppingWords(steps) }
  if (progress.kind === 'retrying') return describeFailure(progress.failure)
  if (progress.kind === 'unclear') return wordsForDoubt(progress)
  if (progress.kind === 'waiting' && phase === 'done')
    return { detail: 'Stopped. The order was not approved.' }
  return progress.kind === 'refused' && !progress.now ? wordsForRefusal(progress.failure) : undefined
}

const doubt = 'The order may have been approved anyway.'

/** What passes by itself needs no words of its own: the title says that there was no clear answer. */
function wordsForDoubt(progress: Progress & { kind: 'unclear' }): Words {
  const safe = isWorthTrying(progress) ? `${doubt} It is safe to try again: nothing happens twice.` : doubt
  return isPassing(progress.failure) ? { detail: safe } : { ...describeFailure(progress.failure), more: safe }
}

function wordsForRefusal(failure: unknown): Words {
  if (problemOf(failure, 'order-not-found')) return { detail: 'It was not approved.' }
  if (problemOf(failure, 'permission-denied')) {
    return { detail: 'The order was not approved. Your administrator can tell you more.' }
  }
  if (problemOf(failure, 'order-not-pending', 'precondition-failed', 'concurrency-conflict')) {
    return { detail: 'Somebody else has changed it. Its current state could not be read.' }
  }
  return describeFailure(failure)
}
