import { isPassing } from '../api/problem.ts'
import { describeEnd, describeFailure } from './describe.ts'
import { Note } from './note.tsx'

/**
 * Shown while the data of a view cannot be read. A passing failure is retried; for others there is a button.
 */
export function FailureNote({ failure, onRetry }: { failure: unknown; onRetry?: () => void }) {
  const { title, detail } = describeFailure(failure)
  const action = onRetry && !isPassing(failure) ? { name: 'Try again', act: onRetry } : undefined
  return <Note kind="warning" role="status" title={title} lines={[detail]} action={action} />
}

interface EndNoteProps {
  failure: unknown
  more?: string | undefined
  describe?: typeof describeEnd
}

/** Reports a failure that is not retried. Screen readers watch its place. */
export function EndNote({ failure, more, describe = describeEnd }: EndNoteProps) {
  const { title, detail } = describe(failure)
  return <Note kind="warning" title={title} lines={[detail, more]} />
}

interface Reading {
  data: unknown
  failureReason: unknown
  refetch(): unknown
}

/** Why data could not be read, or read again. */
export function ReadFailure({ query: { failureReason, refetch } }: { query: Omit<Reading, 'data'> }) {
  return failureReason !== null && <FailureNote failure={failureReason} onRetry={() => void refetch()} />
}

/** Shown in place of data that could not be read. */
export function Unread({ query }: { query: Reading }) {
  return query.data === undefined && <ReadFailure query={query} />
}
