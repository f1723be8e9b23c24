import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { isPassing, problemOf } from '../../../api/problem.ts'
import { useUser } from '../../../auth/session.ts'
import { describeFailure } from '../../../ui/describe.ts'
import { formatTotal } from '../../../ui/format.ts'
import { Name } from '../../../ui/name.tsx'
import { Note } from '../../../ui/note.tsx'
import { missingOf } from '../../approvals.ts'
import { Field } from '../../field.tsx'
import { useText } from '../../free-text.ts'
import type { VersionedOrder } from '../../order.ts'
import { approvalsQuery, orderQuery } from '../../queries.ts'
import { allows, nameOf, words } from '../../states.ts'
import { actions, doneWord, stateAfter } from '../actions.ts'
import { changesOf } from '../changes.ts'
import { failureOf, isWorthTrying, type Step, type Subject } from '../decisions.ts'
import { placeOf } from '../service.ts'
import { WhyNot } from '../why-not.tsx'
import { stoppingWords } from '../words.ts'
import { WhatChanged } from './changed.tsx'
import { QuestionFrame } from './frame.tsx'
import { Particulars } from './particulars.tsx'
import type { Back, Run } from './run.ts'

/** The question about one order, and what someone else did when they were faster. */
export function DecideOne({ run, step, back }: { run: Run; step: Step; back: Back }) {
  const { phase } = run
  const action = actions[run.action]
  const now = useOrderNow(phase, step)
  const backButton = useRef<HTMLButtonElement>(null)
  const reason = useReason(run, step.subject)
  const primary = usePrimary(run, step, now, reason.give)
  const isRunning = phase === 'running' || phase === 'stopping'
  const hasPrimary = primary !== undefined
  useEffect(() => {
    // What was focused is gone, or means something else now.
    if (now !== undefined || !hasPrimary) backButton.current?.focus()
  }, [now, hasPrimary])
  return (
    <QuestionFrame
      title={titleOf(run, step, now)}
      onLeave={back.go}
      description={now ? <WhatChanged {...{ run, step, now: now.order }} /> : <Question {...{ run, step }} />}
    >
      {hasPrimary && reason.field}
      <div role="status">
        {isRunning && <span className="visually-hidden">{action.doing}</span>}
        {!now && <HowItGoes run={run} step={step} />}
      </div>
      <div className="row dialog-actions">
        <Button ref={backButton} className="button" autoFocus={!action.reason} onPress={back.go}>
          {now ? 'Close' : back.name}
        </Button>
        {primary && (
          // A disabled button would lose the focus.
          <Button className="button button-primary" aria-disabled={isRunning} onPress={primary.act}>
            {primary.name}
          </Button>
        )}
      </div>
    </QuestionFrame>
  )
}

/** The question, or how it ended. */
function titleOf({ action }: Run, { subject, progress }: Step, now: VersionedOrder | undefined): string {
  const state = now && nameOf(now.order.status)
  if (now && allows(now.order.status, action)) {
    const isSame = changesOf(subject, now.order).length === 0
    return isSame ? 'This order has another approval' : 'This order has changed'
  }
  if (now && state) {
    const isOwn = progress.kind === 'unclear' && state === stateAfter(action)
    return `This order is ${isOwn ? '' : 'already '}${words[state].meaning}`
  }
  if (now) return 'This order has changed'
  if (progress.kind === 'unclear') return 'There was no clear answer'
  if (progress.kind !== 'refused') return `${actions[action].name} this order?`
  return `The order was not ${doneWord(action)}`
}

/** What is said about a decision that is not made yet, or not at all. */
function HowItGoes({ run: { action, phase, steps }, step: { progress } }: { run: Run; step: Step }) {
  if (phase === 'stopping') return <Note kind="warning" lines={[stoppingWords(steps)]} />
  if (progress.kind === 'retrying') return <FailureNote failure={progress.failure} />
  const done = doneWord(action)
  if (progress.kind === 'unclear') {
    const safe = isWorthTrying(progress) ? ' You can safely try again: nothing happens twice.' : ''
    const more = `The order may have been ${done} anyway.${safe}`
    if (isPassing(progress.failure)) return <Note kind="warning" lines={[more]} />
    return <FailureNote failure={progress.failure} more={more} />
  }
  if (progress.kind === 'waiting' && phase === 'done') {
    return <Note kind="warning" lines={[`Stopped. The order was not ${done}.`]} />
  }
  if (progress.kind !== 'refused') return null
  return (
    <Note kind="warning">
      <p>
        <WhyNot progress={progress} action={action} />
      </p>
    </Note>
  )
}

function FailureNote({ failure, more }: { failure: unknown; more?: string }) {
  const { title, detail } = describeFailure(failure)
  return <Note kind="warning" title={title} lines={[detail, more]} />
}

/**
 * The field for the reason, where the action takes one. `give` goes on with what is written, if that is
 * right.
 */
function useReason({ action, phase, steps }: Run, subject: Subject) {
  const { reason } = actions[action]
  const text = useText(placeOf(action, subject.id), 'reason', reason?.isAsked ? 'Enter a reason.' : undefined)
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
 * The order as someone else left it: found by trying, or seen while the person still reads the question.
 * After an answer that never came, it may show the person's own decision.
 */
function useOrderNow(phase: Run['phase'], { subject, progress }: Step): VersionedOrder | undefined {
  const { data } = useQuery({ ...orderQuery(subject.id), enabled: false })
  if (progress.kind === 'refused') return progress.now
  const isOther = subject.etag !== undefined && data?.etag !== undefined && data.etag !== subject.etag
  const mayShow = phase === 'asking' || progress.kind === 'unclear'
  return mayShow && isOther ? data : undefined
}

function Question({ run: { action }, step: { subject, progress } }: { run: Run; step: Step }) {
  const { data: approvals } = useQuery({ ...approvalsQuery(subject.id), enabled: false })
  const others = action === 'approve' && approvals ? missingOf(approvals) - 1 : 0
  return (
    <>
      <dl className="box decide-order">
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
      {progress.kind !== 'refused' && <p>{actions[action].meaning}</p>}
      {progress.kind !== 'refused' && others > 0 && (
        <p>
          It then needs {others === 1 ? 'one more approval' : `${others} more approvals`} from someone else.
        </p>
      )}
    </>
  )
}

interface Primary {
  name: string
  act(): void
}

/** `give` adds the reason to the subject, where there is one, and goes on with it. */
function usePrimary(
  run: Run,
  step: Step,
  now: VersionedOrder | undefined,
  give: (goOn: (subject: Subject) => void, about: Subject) => void,
): Primary | undefined {
  const { userName } = useUser()
  const { action, phase } = run
  const { name, doing, reason } = actions[action]
  const { subject, progress } = step
  if (now) {
    const { order, etag } = now
    const isSame = changesOf(subject, order).length === 0
    const isOwn = isSame && action === 'approve' && order.modifiedBy === userName
    if (!allows(order.status, action) || isOwn) return undefined
    const act = () => give(run.startInstead, { ...order, etag })
    return { name: isSame ? name : `${name} this version`, act }
  }
  const first = reason ? () => give(run.startInstead, subject) : run.start
  if (phase === 'asking') return { name, act: first }
  if (phase !== 'done') return { name: doing, act: () => undefined }
  // What may have happened is sent again as it was; otherwise the reason may have been changed since.
  if (isWorthTrying(progress)) return { name: 'Try again', act: isUnclear(step) ? run.start : first }
  return problemOf(failureOf(progress), 'validation-failed') ? { name, act: first } : undefined
}
