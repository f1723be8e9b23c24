import { Link } from '@tanstack/react-router'
import type { Ref } from 'react'
import { Button } from 'react-aria-components/Button'
import { isPassing } from '../../api/problem.ts'
import { describeEnd, describeFailure } from '../../ui/describe.ts'
import { formatCount } from '../../ui/format.ts'
import { useNow } from '../../ui/moment.tsx'
import { Note } from '../../ui/note.tsx'
import { Section } from '../../ui/section.tsx'
import { csvOf, failuresOf, saveFailures } from './failures.ts'
import type { Row } from './rows.ts'
import { goOn, isDone, results, rowInDoubt, sheet, stop, useCourse } from './sending.ts'
import { doubtWords, endWords, partInWords, rowsInWords } from './words.ts'

interface SheetProgressProps {
  rows: readonly Row[]
  headingRef: Ref<HTMLHeadingElement>
  onStartOver(text?: string): void
}

/** How far the sheet is, and what became of it. */
export function SheetProgress({ rows, headingRef, onStartOver }: SheetProgressProps) {
  const { sent } = sheet.use()
  const known = results.use()
  const { isSending, isStopping, failure } = useCourse()
  const now = useNow()
  const isOver = isDone()
  const outcomes = Object.values(known)
  const failures = failuresOf(rows, known)
  const count = sent?.rows.length ?? 0
  const doubt = isSending ? undefined : rowInDoubt(now)
  return (
    <Section
      title={isOver ? 'Finished' : isSending ? 'Creating orders …' : 'Not all rows are sent'}
      headingRef={headingRef}
    >
      <p>
        {isOver
          ? endWords(outcomes, failures.length)
          : isSending
            ? `${formatCount(outcomes.length)} of ${rowsInWords(count)} sent.`
            : partInWords(outcomes, count)}
      </p>
      {!isOver && <progress aria-label="Rows sent" value={outcomes.length} max={count} />}
      <div className="stack" role="status">
        {failure !== undefined && <Failure failure={failure} isSending={isSending} />}
        {doubt !== undefined && <Note kind="warning" lines={[doubtWords(doubt)]} />}
      </div>
      <p className="soft small">
        {isSending
          ? 'You can keep working in the meantime. If you reload the page, press “Go on”.'
          : 'You can send the same sheet again within 24 hours: no order is created twice. A changed sheet counts as a new one.'}
      </p>
      <div className="row">
        {!isOver && (
          <Button
            className={isSending ? 'button' : 'button button-primary'}
            aria-disabled={isStopping}
            onPress={() => (isSending ? stop() : void goOn(rows))}
          >
            {isSending ? 'Stop' : 'Go on'}
          </Button>
        )}
        {!isSending && failures.length > 0 && (
          <>
            <Button className="button" onPress={() => saveFailures(failures)}>
              Save {failures.length === 1 ? 'the row' : `the ${formatCount(failures.length)} rows`} that
              failed
            </Button>
            {isOver && (
              <Button className="button" onPress={() => onStartOver(csvOf(failures))}>
                Correct them here
              </Button>
            )}
          </>
        )}
        {isOver && (
          <Link to="/orders" className="button">
            Show the orders
          </Link>
        )}
        {!isSending && (
          <Button className="button button-quiet" onPress={() => onStartOver()}>
            Another sheet
          </Button>
        )}
      </div>
    </Section>
  )
}

function Failure({ failure, isSending }: { failure: unknown; isSending: boolean }) {
  const { title, detail } = (isSending ? describeFailure : describeEnd)(failure)
  const isWaiting = isSending && isPassing(failure)
  return <Note kind={isWaiting ? 'waiting' : 'warning'} title={title} lines={[detail]} />
}
