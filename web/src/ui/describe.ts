import { isPassing, NoAnswerError, problemOf } from '../api/problem.ts'

/** The typed text cannot be sent. The message says why. */
export class Unsendable extends Error {}

/** Whether someone else was first. */
export const isOutdated = (failure: unknown) =>
  problemOf(failure, 'precondition-failed', 'concurrency-conflict') !== undefined

/** A failure in two short lines. */
export function describeFailure(failure: unknown): { title: string; detail: string } {
  if (failure instanceof NoAnswerError) {
    return navigator.onLine
      ? { title: 'The service is not responding', detail: 'Trying again automatically.' }
      : { title: 'You are offline', detail: 'We’ll carry on when you’re back online.' }
  }
  if (failure instanceof Unsendable) return { title: 'Nothing was saved', detail: failure.message }
  const problem = problemOf(failure)
  if (problem === undefined) {
    return {
      title: 'Something went wrong',
      detail: 'Reload the page. If it happens again, contact your administrator.',
    }
  }
  if (problem.code === 'rate-limited') {
    return {
      title: 'Too many requests right now',
      detail: 'This will continue automatically in a few seconds.',
    }
  }
  if (problem.code === 'recent-sign-in-needed') {
    return { title: 'Nothing was changed', detail: 'Your password is needed for this.' }
  }
  if (isOutdated(failure)) {
    return {
      title: 'Someone else has changed this',
      detail: 'Your change was not saved. Open it again and repeat your change.',
    }
  }
  if (problem.code === 'log-contradicted') {
    return {
      title: problem.title,
      detail: 'Nothing can be signed until your administrator has restored the log.',
    }
  }
  if (problem.status === 503) {
    return { title: 'The service is unavailable right now', detail: 'Trying again automatically.' }
  }
  if (problem.status >= 500) {
    return {
      title: problem.title,
      detail: `Give your administrator this request ID: ${problem.requestId}`,
    }
  }
  // The details of the service begin with the name of the field: "reason must not be blank."
  const [fault] = problemOf(failure, 'validation-failed')?.errors ?? []
  return { title: problem.title, detail: fault ? `The ${fault.detail}` : problem.detail }
}

/** The same for a failure that is not retried automatically. */
export function describeEnd(failure: unknown): { title: string; detail: string } {
  const { title, detail } = describeFailure(failure)
  return { title, detail: isPassing(failure) ? 'Try again in a moment.' : detail }
}

export function endInWords(failure: unknown): string {
  const { title, detail } = describeEnd(failure)
  return `${title}. ${detail}`
}
