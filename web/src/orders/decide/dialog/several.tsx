import { useEffect, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { formatCount, formatTotal } from '../../../ui/format.ts'
import { actions } from '../actions.ts'
import { mayTryAgain } from '../decisions.ts'
import { signedInWords } from '../sign.ts'
import { sumOfTotals } from '../totals.ts'
import { TouchNote } from '../touch-note.tsx'
import { useInWhoseName } from '../whose-name.ts'
import { isDecided, settledOf, spokenOf, summaryOf, titleOfSeveral, troubleOf } from '../words.ts'
import { QuestionFrame } from './frame.tsx'
import { useReason } from './one.tsx'
import { DecisionRows } from './rows.tsx'
import type { Back, Run } from './run.ts'

/** The question about several orders, the progress, and the result for each. */
export function DecideSeveral({ run, back }: { run: Run; back: Back }) {
  const { action, phase, steps } = run
  const backButton = useRef<HTMLButtonElement>(null)
  const name = useInWhoseName(action)
  const isOver = phase === 'done'
  const subjects = steps.map(({ subject }) => subject)
  const signed = signedInWords(action, subjects)
  const counted = isOver ? steps.filter(isDecided) : steps
  const sum = formatTotal(sumOfTotals(counted.map(({ subject }) => subject.total)))
  const { reason, meaningOfSeveral, past } = actions[action]
  const { give, fieldFor } = useReason(run)
  const isAsking = phase === 'asking'
  const canTryAgain = isOver && steps.some(({ progress }) => mayTryAgain(progress))
  function start() {
    const [first] = subjects
    if (!isAsking || first === undefined || !reason) return run.start()
    give(
      (given) => run.startInstead(...subjects.map((each) => ({ ...each, reason: given.reason ?? '' }))),
      first,
    )
  }
  useEffect(() => {
    if (phase !== 'asking') backButton.current?.focus()
  }, [phase])
  return (
    <QuestionFrame
      title={titleOfSeveral(action, phase, steps)}
      isWide
      onLeave={back.go}
      description={
        <>
          <dl className="box decide-order">
            <dt className="soft small">{isOver ? `Value that you ${past}` : 'Value'}</dt>
            <dd className="large-total">{sum}</dd>
          </dl>
          {isAsking && <p>{meaningOfSeveral(name)}</p>}
          {isAsking && signed !== undefined && <p>{signed}</p>}
        </>
      }
    >
      {phase !== 'asking' && <HowFar run={run} />}
      {isAsking && fieldFor(start)}
      <DecisionRows {...run} />
      <div role="status">
        <TouchNote touch={run.touch} />
      </div>
      <div className="row dialog-actions">
        <Button ref={backButton} className="button" onPress={back.go}>
          {back.name}
        </Button>
        {(isAsking || canTryAgain) && (
          <Button
            className={`button ${reason ? 'button-danger' : 'button-primary'}`}
            autoFocus={!isOver && !reason}
            onPress={start}
          >
            {canTryAgain ? 'Try again' : `${actions[action].name} ${formatCount(steps.length)} orders`}
          </Button>
        )}
      </div>
    </QuestionFrame>
  )
}

function HowFar({ run: { action, phase, steps } }: { run: Run }) {
  if (phase === 'done') {
    return (
      <div className="stack gap-1">
        <div role="status">{summaryOf(steps, action)}</div>
      </div>
    )
  }
  const all = steps.length
  const settled = settledOf(steps)
  return (
    <div className="stack gap-1">
      <progress value={settled} max={all} aria-label="Orders done" />
      <p aria-hidden="true" className="small soft">
        {formatCount(settled)} of {formatCount(all)}
      </p>
      <div role="status">
        <span className="visually-hidden">{spokenOf(settled, all)}</span>
        <p className="small">{troubleOf(phase, steps)}</p>
      </div>
    </div>
  )
}
