import { isPassing, NoAnswerError, problemOf } from '../api/problem.ts'
import { Note } from './note.tsx'

/** What a person is told of a failure, in two short lines. */
export function describeFailure(failure: unknown): { title: string; detail: string } {
  if (failure instanceof NoAnswerError) {
    return navigator.onLine
      ? { title: 'The service does not answer', detail: 'It is tried again by itself.' }
      : { title: 'You are offline', detail: 'It goes on by itself when the connection is back.' }
  }
  const problem = problemOf(failure)
  if (problem === undefined) {
    return {
      title: 'Something went wrong here',
      detail: 'Reload the page. If it happens again, tell your administrator.',
    }
  }
  if (problem.code === 'rate-limited') {
    return { title: 'Too many requests for the moment', detail: 'It goes on by itself in a few seconds.' }
  }
  if (problem.status === 503) {
    return { title: 'The service is not available right now', detail: 'It is tried again by itself.' }
  }
  if (problem.status >= 500) {
    return {
      title: problem.title,
      detail: `Tell your administrator the number of this request: ${problem.requestId}`,
    }
  }
  return { title: problem.title, detail: problem.detail }
}

/** Shown in a view while its data cannot be had: by itself it goes on, or the person is offered to try again. */
export function FailureNote({ failure, onRetry }: { failure: unknown; onRetry?: () => void }) {
  const { title, detail } = describeFailure(failure)
  const action = onRetry && !isPassing(failure) ? { name: 'Try again', act: onRetry } : undefined
  return <Note kind="warning" role="status" title={title} lines={[detail]} action={action} />
}
