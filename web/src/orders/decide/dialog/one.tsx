import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { useUser } from '../../../auth/session.ts'
import { describeFailure } from '../../../ui/describe.ts'
import { EndNote } from '../../../ui/failure.tsx'
import { Field } from '../../../ui/field.tsx'
import { formatTotal } from '../../../ui/format.ts'
import { Name } from '../../../ui/name.tsx'
import { Note } from '../../../ui/note.tsx'
import { sendsOnEnter, useText } from '../../free-text.ts'
import { approvalsQuery, orderQuery } from '../../queries.ts'
import { actions } from '../actions.ts'
import { countOf } from '../changes.ts'
import type { Step, Subject } from '../decisions.ts'
import { placeOf } from '../service.ts'
import { signedInWords } from '../sign.ts'
import { TouchNote } from '../touch-note.tsx'
import { useInWhoseName } from '../whose-name.ts'
import { WhyNot } from '../why-not.tsx'
import { WhatChanged } from './changed.tsx'
import { QuestionFrame, QuestionInCard } from './frame.tsx'
import { DocumentNames, Particulars } from './particulars.tsx'
import {
  isReasonFixed,
  isRunning,
  messageOf,
  othersAfter,
  otherVersion,
  primaryOf,
  titleOf,
} from './question.ts'
import type { Back, Run } from './run.ts'

/** The question about one order, and what someone else did if they were faster. */
export function DecideOne({ run, step, back }: { run: Run; step: Step; back: Back }) {
  const action = actions[run.action]
  const { userName } = useUser()
  const { data } = useQuery({ ...orderQuery(step.subject.id), enabled: false })
  const now = otherVersion(run.phase, step, data)
  const backButton = useRef<HTMLButtonElement>(null)
  const reason = useReason(run)
  const primary = primaryOf(run, step, now, userName, reason.give)
  const hasPrimary = primary !== undefined
  const Frame = action.reason ? QuestionInCard : QuestionFrame
  useEffect(() => {
    // The focused button is gone, or means something else now.
    if (now !== undefined || !hasPrimary) backButton.current?.focus()
  }, [now, hasPrimary])
  return (
    <Frame
      title={titleOf(run, step, now)}
      onLeave={back.go}
      onKeyDown={sendsOnEnter(() => primary?.act())}
      description={now ? <WhatChanged {...{ run, step, now }} /> : <Question {...{ run, step }} />}
    >
      {hasPrimary && reason.fieldFor()}
      <div role="status">
        {isRunning(run) && <span className="visually-hidden">{action.doing}</span>}
        {!now && (
          <>
            <HowItGoes run={run} step={step} />
            <TouchNote touch={run.touch} />
          </>
        )}
      </div>
      <div className="row dialog-actions">
        <Button ref={backButton} className="button" onPress={back.go}>
          {now ? 'Close' : back.name}
        </Button>
        {primary && (
          // A disabled button would lose the focus.
          <Button
            className={`button ${action.reason ? 'button-danger' : 'button-primary'}`}
            autoFocus={!action.reason}
            aria-disabled={isRunning(run)}
            onPress={primary.act}
          >
            {primary.name}
          </Button>
        )}
      </div>
    </Frame>
  )
}

/** The message about a decision that has not taken effect yet, or will not. */
function HowItGoes({ run, step, step: { progress } }: { run: Run; step: Step }) {
  const message = messageOf(run, step)
  if (message?.failure !== undefined) {
    return <EndNote failure={message.failure} describe={describeFailure} more={message.line} />
  }
  if (message) return <Note kind="warning" lines={[message.line]} />
  if (progress.kind !== 'refused') return null
  return (
    <Note kind="warning">
      <p>
        <WhyNot progress={progress} action={run.action} />
      </p>
    </Note>
  )
}

/** The field for the reason, if the action takes one. `give` continues with the text, if it is valid. */
export function useReason(run: Run) {
  const { action } = run
  const orders = run.steps.map(({ subject }) => subject)
  const { reason } = actions[action]
  const text = useText(placeOf(action, orders), 'reason', reason?.isAsked ? 'Enter a reason.' : undefined)
  function give(goOn: (subject: Subject) => void, about: Subject) {
    if (!reason) return goOn(about)
    const given = text.submit()
    if (given !== undefined) goOn({ ...about, reason: given })
  }
  return {
    give,
    /** Enter in the field does this, where nothing around it listens. */
    fieldFor: (send?: () => void) =>
      reason && (
        <Field
          {...text.field}
          label={reason.label}
          hint="Anyone who can see the order can read it."
          input={send ? { onKeyDown: sendsOnEnter(send) } : {}}
          isReadOnly={isReasonFixed(run)}
          isRequired={reason.isAsked}
        />
      ),
  }
}

function Question({ run, step, step: { subject, progress } }: { run: Run; step: Step }) {
  const { data: approvals } = useQuery({ ...approvalsQuery(subject.id), enabled: false })
  const others = othersAfter(run, step, approvals)
  const name = useInWhoseName(run.action, approvals)
  const signed = signedInWords(run.action, [subject])
  return (
    <>
      {!actions[run.action].reason && <Summary of={subject} />}
      {progress.kind !== 'refused' && <p>{actions[run.action].meaning(name)}</p>}
      {progress.kind !== 'refused' && signed !== undefined && <p>{signed}</p>}
      {others > 0 && (
        <p>
          It then needs {others === 1 ? 'one more approval' : `${others} more approvals`} from someone else.
        </p>
      )}
    </>
  )
}

/** In a card, the order itself is next to the question. */
function Summary({ of: subject }: { of: Subject }) {
  return (
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
      {countOf(subject.documents) > 0 && (
        <>
          <dt className="visually-hidden">Documents</dt>
          <dd className="small">
            <DocumentNames of={subject.documents} />
          </dd>
        </>
      )}
    </dl>
  )
}
