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

/** The end of something that is not retried. Its place is one that screen readers watch. */
export function EndNote({ failure }: { failure: unknown }) {
  const { title, detail } = describeEnd(failure)
  return <Note kind="warning" title={title} lines={[detail]} />
}

interface Reading {
  data: unknown
  failureReason: unknown
  refetch(): unknown
}

/** Shown in place of data that could not be read. */
export function Unread({ query: { data, failureReason, refetch } }: { query: Reading }) {
  if (data !== undefined || failureReason === null) return null
  return <FailureNote failure={failureReason} onRetry={() => void refetch()} />
}
