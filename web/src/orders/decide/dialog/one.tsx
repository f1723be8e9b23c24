import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { Heading } from 'react-aria-components/Dialog'
import { problemOf } from '../../../api/problem.ts'
import { useUser } from '../../../auth/session.ts'
import { formatTotal } from '../../../ui/format.ts'
import { Name } from '../../../ui/name.tsx'
import { Note } from '../../../ui/note.tsx'
import { missingOf } from '../../approvals.ts'
import { Field } from '../../field.tsx'
import { useText } from '../../free-text.ts'
import type { VersionedOrder } from '../../order.ts'
import { Particulars } from '../../particulars.tsx'
import { approvalsQuery, orderQuery } from '../../queries.ts'
import { pending } from '../../states.ts'
import type { Deed } from '../actions.ts'
import { failureOf, isWorthTrying, type Step, type Subject } from '../decisions.ts'
import { placeOf } from '../service.ts'
import { WhatChanged } from './changed.tsx'
import type { Back, Run } from './run.ts'
import { isSame, titleOf, wordsFor } from './words.ts'

/** The question about one order, and what is told when somebody else was faster. */
export function DecideOne({ run, step, back }: { run: Run; step: Step; back: Back }) {
  const { deed, phase } = run
  const { subject, progress } = step
  const now = useOrderNow(phase, step)
  const backButton = useRef<HTMLButtonElement>(null)
  const reason = useReason(run, subject)
  const primary = usePrimary(run, step, now, reason.give)
  const note = now ? undefined : wordsFor(run, progress)
  // Keeps the focus, unlike one that is disabled.
  const isRunning = phase === 'running' || phase === 'stopping'
  const hasPrimary = primary !== undefined
  useEffect(() => {
    // What was focused is gone, or means something else now.
    if (now !== undefined || !hasPrimary) backButton.current?.focus()
  }, [now, hasPrimary])
  return (
    <>
      <Heading slot="title" level={2}>
        {titleOf(deed, subject, progress, now)}
      </Heading>
      <div id="decide-description" className="stack">
        {now ? (
          <WhatChanged deed={deed} before={subject} now={now.order} wasSent={progress.kind === 'unclear'} />
        ) : (
          <Question deed={deed} step={step} />
        )}
      </div>
      {hasPrimary && reason.field}
      <div role="status">
        {isRunning && <span className="visually-hidden">{deed.doing}</span>}
        {note && <Note kind="warning" title={note.title} lines={[note.detail, note.more]} />}
      </div>
      <div className="row dialog-actions">
        <Button ref={backButton} className="button" autoFocus={!deed.reason} onPress={back.go}>
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

/** The field for the reason, where the action takes one. `give` goes on with what is written, if that is right. */
function useReason({ deed, phase, steps }: Run, subject: Subject) {
  const { reason } = deed
  const text = useText(placeOf(deed, subject.id), 'reason', reason?.isAsked ? 'Enter a reason.' : undefined)
  function give(goOn: (subject: Subject) => void, about: Subject) {
    if (!reason) return goOn(about)
    const given = text.submit()
    if (given !== undefined) goOn({ ...about, reason: given })
  }
  return {
    give,
    field: reason && (
      <Field
        {...text.field}
        label={reason.label}
        hint="Anyone who can see the order can read it."
        isReadOnly={phase === 'running' || phase === 'stopping' || steps.some(isUnclear)}
        isRequired={reason.isAsked}
      />
    ),
  }
}

const isUnclear = ({ progress }: Step) => progress.kind === 'unclear'

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

function Question({ deed, step: { subject, progress } }: { deed: Deed; step: Step }) {
  const { data: approvals } = useQuery({ ...approvalsQuery(subject.id), enabled: false })
  const others = deed.to === 'Approved' && approvals ? missingOf(approvals) - 1 : 0
  return (
    <>
      <dl className="decide-order">
        <dt className="visually-hidden">Customer</dt>
        <dd className="label wrap">
          <Name of={subject.customer} />
        </dd>
        <dt className="visually-hidden">Total</dt>
        <dd className="large-total">{formatTotal(subject.total)}</dd>
        <dt className="visually-hidden">Number and time of creation</dt>
        <dd>
          <Particulars order={subject} />
        </dd>
      </dl>
      {progress.kind !== 'refused' && <p>{deed.meaning}</p>}
      {progress.kind !== 'refused' && others > 0 && (
        <p>
          It then needs {others === 1 ? 'one more approval' : `${others} more approvals`} from somebody else.
        </p>
      )}
    </>
  )
}

interface Primary {
  name: string
  act(): void
}

/** `give` puts the reason to the subject, where there is one, and goes on with it. */
function usePrimary(
  run: Run,
  step: Step,
  now: VersionedOrder | undefined,
  give: (goOn: (subject: Subject) => void, about: Subject) => void,
): Primary | undefined {
  const { userName } = useUser()
  const { deed, phase } = run
  const { subject, progress } = step
  if (now) {
    const { order, etag } = now
    if (order.status !== pending) return undefined
    const isUnchanged = isSame(subject, order)
    if (isUnchanged && deed.to === 'Approved' && order.modifiedBy === userName) return undefined
    const act = () => give(run.startInstead, { ...order, etag })
    return { name: isUnchanged ? deed.name : `${deed.name} this version`, act }
  }
  const first = deed.reason ? () => give(run.startInstead, subject) : run.start
  if (phase === 'asking') return { name: deed.name, act: first }
  if (phase !== 'done') return { name: deed.doing, act: () => undefined }
  // What may have happened is sent again as it was; else the reason may have been changed since.
  if (isWorthTrying(progress)) return { name: 'Try again', act: isUnclear(step) ? run.start : first }
  const mayMend = problemOf(failureOf(progress), 'validation-failed') !== undefined
  return mayMend ? { name: deed.name, act: first } : undefined
}
