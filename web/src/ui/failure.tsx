import { isPassing } from '../api/problem.ts'
import { describeEnd, describeFailure } from './describe.ts'
import { Note } from './note.tsx'

/** Shown in a view while its data cannot be had: by itself it goes on, or the person is offered to try again. */
export function FailureNote({ failure, onRetry }: { failure: unknown; onRetry?: () => void }) {
  const { title, detail } = describeFailure(failure)
  const action = onRetry && !isPassing(failure) ? { name: 'Try again', act: onRetry } : undefined
  return <Note kind="warning" role="status" title={title} lines={[detail]} action={action} />
}

/** How something ended that is not tried again by itself. It stands in a place that screen readers watch. */
export function EndNote({ failure }: { failure: unknown }) {
  const { title, detail } = describeEnd(failure)
  return <Note kind="warning" title={title} lines={[detail]} />
}

interface Reading {
  data: unknown
  failureReason: unknown
  refetch(): unknown
}

/** In the place of what could not be read so far. */
export function Unread({ query: { data, failureReason, refetch } }: { query: Reading }) {
  if (data !== undefined || failureReason === null) return null
  return <FailureNote failure={failureReason} onRetry={() => void refetch()} />
}
