import { useEffect, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { Heading } from 'react-aria-components/Dialog'
import { describeFailure } from '../../../ui/describe.ts'
import { formatCount, formatTotal } from '../../../ui/format.ts'
import { isWorthTrying, type Step } from '../decisions.ts'
import { sumOfTotals } from '../totals.ts'
import { isApproved, stoppingWords, summaryOf } from '../words.ts'
import { DecisionRows } from './rows.tsx'
import type { Back, Run } from './run.ts'

/** The question about several orders, how far it is, and what became of each. */
export function ApproveSeveral({ run, back }: { run: Run; back: Back }) {
  const { phase, steps } = run
  const backButton = useRef<HTMLButtonElement>(null)
  const isDone = phase === 'done'
  const counted = isDone ? steps.filter(isApproved) : steps
  const canTryAgain = isDone && steps.some(({ progress }) => isWorthTrying(progress))
  useEffect(() => {
    if (phase !== 'asking') backButton.current?.focus()
  }, [phase])
  return (
    <>
      <Heading slot="title" level={2}>
        {titleOf(run)}
      </Heading>
      <div id="decide-description" className="stack">
        <dl className="decide-order">
          <dt className="soft small">{isDone ? 'Approved value' : 'Value'}</dt>
          <dd className="large-total">
            {formatTotal(sumOfTotals(counted.map(({ subject }) => subject.total)))}
          </dd>
        </dl>
        {phase === 'asking' && <p>You approve them in your name. This cannot be undone.</p>}
      </div>
      {phase !== 'asking' && <HowFar run={run} />}
      <DecisionRows steps={steps} phase={phase} />
      <div className="row dialog-actions">
        <Button ref={backButton} className="button" autoFocus onPress={back.go}>
          {back.name}
        </Button>
        {(phase === 'asking' || canTryAgain) && (
          <Button className="button button-primary" onPress={run.start}>
            {canTryAgain ? 'Try again' : `Approve ${formatCount(steps.length)} orders`}
          </Button>
        )}
      </div>
    </>
  )
}

function titleOf({ phase, steps }: Run): string {
  const all = formatCount(steps.length)
  if (phase === 'asking') return `Approve ${all} orders?`
  if (phase !== 'done') return `Approving ${all} orders`
  const count = steps.filter(isApproved).length
  return count === steps.length ? `${all} orders approved` : `${formatCount(count)} of ${all} orders approved`
}

function HowFar({ run: { phase, steps } }: { run: Run }) {
  const all = steps.length
  const settled = steps.filter(
    ({ progress }) => progress.kind === 'decided' || progress.kind === 'refused',
  ).length
  const isDone = phase === 'done'
  return (
    <div className="stack gap-1">
      {!isDone && (
        <>
          <progress value={settled} max={all} aria-label="Orders done" />
          <p aria-hidden="true" className="small soft">
            {formatCount(settled)} of {formatCount(all)}
          </p>
        </>
      )}
      <div role="status">
        {isDone ? summaryOf(steps) : <span className="visually-hidden">{toldOf(settled, all)}</span>}
        {!isDone && <p className="small">{troubleOf(phase, steps)}</p>}
      </div>
    </div>
  )
}

/** Changes four times at most: each order would be a flood of words for who listens. */
function toldOf(settled: number, all: number): string {
  return `${formatCount(settled - (settled % Math.ceil(all / 4)))} of ${formatCount(all)} done.`
}

function troubleOf(phase: Run['phase'], steps: readonly Step[]): string | undefined {
  if (phase === 'stopping') return stoppingWords(steps)
  const retrying = steps.map(({ progress }) => progress).find(({ kind }) => kind === 'retrying')
  if (retrying?.kind !== 'retrying') return undefined
  const { title, detail } = describeFailure(retrying.failure)
  return `${title}. ${detail}`
}
