import { useUser } from '../../../auth/session.ts'
import { describeFailure } from '../../../ui/describe.ts'
import { formatAgo, formatTotal } from '../../../ui/format.ts'
import { CheckIcon } from '../../../ui/icons.tsx'
import { useNow } from '../../../ui/moment.tsx'
import { Name } from '../../../ui/name.tsx'
import type { Order } from '../../order.ts'
import { Particulars } from '../../particulars.tsx'
import type { Progress, Step } from '../decisions.ts'
import { endingOf, isApproved, neededWords } from '../words.ts'
import type { Run } from './run.ts'

/**
 * The orders, each with its own result; in the end what is not approved comes first, so that nobody searches for it.
 */
export function DecisionRows({ steps, phase }: { steps: readonly Step[]; phase: Run['phase'] }) {
  const sorted =
    phase === 'done' ? [...steps].sort((a, b) => Number(isApproved(a)) - Number(isApproved(b))) : steps
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <section className="decide-rows" aria-label="Orders" tabIndex={0}>
      <ul className="lined">
        {sorted.map(({ subject, progress }) => (
          <li key={subject.id}>
            <span className="clip">
              <Name of={subject.customer} />
            </span>
            <span className="number end">{formatTotal(subject.total)}</span>
            <span className="decide-row-particulars">
              <Particulars order={subject} />
            </span>
            {phase !== 'asking' && (
              <span className="row soft small decide-row-result" data-kind={progress.kind}>
                <Result progress={progress} isDone={phase === 'done'} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Result({ progress, isDone }: { progress: Progress; isDone: boolean }) {
  if (progress.kind === 'sending') return 'Approving …'
  if (progress.kind === 'retrying') return 'Trying again …'
  if (progress.kind === 'waiting') return isDone ? 'Left as it was' : 'Not sent yet'
  if (progress.kind === 'unclear') return 'No clear answer, may have been approved'
  if (progress.kind === 'decided') return <Approval missing={progress.missing} />
  return <Refusal {...progress} />
}

function Approval({ missing }: { missing: number | undefined }) {
  return (
    <>
      <CheckIcon />
      {missing === 0 ? 'Approved' : `Approved by you, ${neededWords(missing)}`}
    </>
  )
}

function Refusal({ failure, now }: Progress & { kind: 'refused' }) {
  const ending = endingOf({ kind: 'refused', failure, ...(now && { now }) })
  if (ending === 'already') return now ? <Already what="Already approved" {...now} /> : 'Already approved'
  if (ending === 'rejected') return now ? <Already what="Rejected" {...now} /> : 'Rejected in the meantime'
  if (ending === 'withdrawn') return now ? <Already what="Withdrawn" {...now} /> : 'Withdrawn in the meantime'
  if (ending === 'own') return 'You created it, so somebody else has to approve it'
  if (ending === 'twice') return 'Already approved by you, somebody else has to approve it, too'
  if (ending === 'changed') return 'Changed, not approved'
  if (ending === 'gone') return 'Not found'
  if (ending === 'denied') return 'You can no longer approve orders'
  return describeFailure(failure).title
}

function Already({ what, order: { modifiedBy, updatedAtUtc } }: { what: string; order: Order }) {
  const { userName } = useUser()
  const now = useNow()
  return (
    <span>
      {what} by {modifiedBy === userName ? 'you' : <Name of={modifiedBy ?? 'somebody else'} />}
      {updatedAtUtc !== null && `, ${formatAgo(updatedAtUtc, now)}`}
    </span>
  )
}
