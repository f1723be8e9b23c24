import { isPassing } from '../api/problem.ts'
import { describeFailure } from './describe.ts'
import { Note } from './note.tsx'

/** Shown in a view while its data cannot be had: by itself it goes on, or the person is offered to try again. */
export function FailureNote({ failure, onRetry }: { failure: unknown; onRetry?: () => void }) {
  const { title, detail } = describeFailure(failure)
  const action = onRetry && !isPassing(failure) ? { name: 'Try again', act: onRetry } : undefined
  return <Note kind="warning" role="status" title={title} lines={[detail]} action={action} />
}
