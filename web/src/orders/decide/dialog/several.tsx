import { useEffect, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { describeFailure } from '../../../ui/describe.ts'
import { formatCount, formatTotal } from '../../../ui/format.ts'
import { actions, doneWord } from '../actions.ts'
import { isWorthTrying, type Step } from '../decisions.ts'
import { sumOfTotals } from '../totals.ts'
import { isDone, stoppingWords, summaryOf } from '../words.ts'
import { QuestionFrame } from './frame.tsx'
import { DecisionRows } from './rows.tsx'
import type { Back, Run } from './run.ts'

/** The question about several orders, how far it is, and the result for each. */
export function DecideSeveral({ run, back }: { run: Run; back: Back }) {
  const { action, phase, steps } = run
  const backButton = useRef<HTMLButtonElement>(null)
  const isOver = phase === 'done'
  const counted = isOver ? steps.filter(isDone) : steps
  const sum = formatTotal(sumOfTotals(counted.map(({ subject }) => subject.total)))
  const canTryAgain = isOver && steps.some(({ progress }) => isWorthTrying(progress))
  useEffect(() => {
    if (phase !== 'asking') backButton.current?.focus()
  }, [phase])
  return (
    <QuestionFrame
      title={titleOf(run)}
      isWide
      onLeave={back.go}
      description={
        <>
          <dl className="box decide-order">
            <dt className="soft small">{isOver ? 'Approved value' : 'Value'}</dt>
            <dd className="large-total">{sum}</dd>
          </dl>
          {phase === 'asking' && <p>You approve them in your name. This cannot be undone.</p>}
        </>
      }
    >
      {phase !== 'asking' && <HowFar run={run} />}
      <DecisionRows {...run} />
      <div className="row dialog-actions">
        <Button ref={backButton} className="button" autoFocus onPress={back.go}>
          {back.name}
        </Button>
        {(phase === 'asking' || canTryAgain) && (
          <Button className="button button-primary" onPress={run.start}>
            {canTryAgain ? 'Try again' : `${actions[action].name} ${formatCount(steps.length)} orders`}
          </Button>
        )}
      </div>
    </QuestionFrame>
  )
}

function titleOf({ action, phase, steps }: Run): string {
  const all = formatCount(steps.length)
  if (phase === 'asking') return `${actions[action].name} ${all} orders?`
  if (phase !== 'done') return `Approving ${all} orders`
  const count = steps.filter(isDone).length
  return `${count === steps.length ? '' : `${formatCount(count)} of `}${all} orders ${doneWord(action)}`
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
  const settled = steps.filter(({ progress: { kind } }) => kind === 'decided' || kind === 'refused').length
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

/** Changes four times at most: announcing each order would be too much. */
function spokenOf(settled: number, all: number): string {
  return `${formatCount(settled - (settled % Math.ceil(all / 4)))} of ${formatCount(all)} done.`
}

function troubleOf(phase: Run['phase'], steps: readonly Step[]): string | undefined {
  if (phase === 'stopping') return stoppingWords(steps)
  const retrying = steps.map(({ progress }) => progress).find(({ kind }) => kind === 'retrying')
  if (retrying?.kind !== 'retrying') return undefined
  const { title, detail } = describeFailure(retrying.failure)
  return `${title}. ${detail}`
}
