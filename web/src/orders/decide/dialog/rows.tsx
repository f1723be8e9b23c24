import { formatTotal } from '../../../ui/format.ts'
import { CheckIcon } from '../../../ui/icons.tsx'
import { Name } from '../../../ui/name.tsx'
import { actions, stateAfter } from '../actions.ts'
import type { Progress } from '../decisions.ts'
import { WhyNot } from '../why-not.tsx'
import { isDone, neededWords } from '../words.ts'
import { Particulars } from './particulars.tsx'
import type { Run } from './run.ts'

/** The orders, each with its own result. At the end, those that were not approved come first. */
export function DecisionRows({ action, steps, phase }: Pick<Run, 'action' | 'steps' | 'phase'>) {
  const sorted = phase === 'done' ? [...steps].sort((a, b) => Number(isDone(a)) - Number(isDone(b))) : steps
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="box decide-rows" aria-label="Orders" tabIndex={0}>
      <ul className="lined">
        {sorted.map(({ subject, progress }) => (
          <li key={subject.id} className="row">
            <span className="clip">
              <Name of={subject.customer} />
            </span>
            <span className="number end">{formatTotal(subject.total)}</span>
            <span className="decide-row-particulars">
              <Particulars order={subject} />
            </span>
            {phase !== 'asking' && (
              <span className="row soft small decide-row-result" data-kind={progress.kind}>
                <Result progress={progress} action={action} isOver={phase === 'done'} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

interface ResultProps {
  progress: Progress
  action: Run['action']
  isOver: boolean
}

function Result({ progress, action, isOver }: ResultProps) {
  if (progress.kind === 'sending') return actions[action].doing
  if (progress.kind === 'retrying') return 'Trying again …'
  if (progress.kind === 'waiting' || progress.kind === 'held') return isOver ? 'Not sent' : 'Not sent yet'
  if (progress.kind !== 'decided') return <WhyNot progress={progress} action={action} />
  return (
    <>
      <CheckIcon />
      {progress.missing === 0 ? stateAfter(action) : `Approved by you, ${neededWords(progress.missing)}`}
    </>
  )
}
