import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { NoAnswerError, type ProblemCode, readFailure } from '../../../web/src/api/problem.ts'
import { describeFailure, endInWords, Unsendable } from '../../../web/src/ui/describe.ts'

function titleAndDetail(failure: unknown, isOnLine = true): string {
  Object.defineProperty(navigator, 'onLine', { value: isOnLine, configurable: true })
  const { title, detail } = describeFailure(failure)
  return `${title}. ${detail}`
}

function refusal(status: number, code: ProblemCode) {
  const problem = { type: '', title: 'Its title', detail: 'Its detail.', instance: '', requestId: 'r-7' }
  return readFailure(new Response('', { status }), { ...problem, status, code })
}

describe('the words for a failure', () => {
  it('say that a temporary failure is retried, and why', () => {
    const none = new NoAnswerError('none')
    assert.deepEqual(
      [titleAndDetail(none), titleAndDetail(none, false), titleAndDetail(refusal(503, 'overloaded'))],
      [
        'The service is not responding. Trying again automatically.',
        'You are offline. We’ll carry on when you’re back online.',
        'The service is unavailable right now. Trying again automatically.',
      ],
    )
    assert.equal(
      titleAndDetail(refusal(429, 'rate-limited')),
      'Too many requests right now. This will continue automatically in a few seconds.',
    )
  })

  it('say that an operator is needed if witnesses contradict the log', () => {
    assert.equal(
      endInWords(refusal(503, 'log-contradicted')),
      'Its title. Nothing can be signed until your administrator has restored the log.',
    )
  })

  it('say what cannot be sent', () => {
    assert.equal(
      endInWords(new Unsendable('There is no user jo.')),
      'Nothing was saved. There is no user jo.',
    )
  })

  it('ask the person to try again if the failure is not retried', () => {
    assert.deepEqual(
      [new NoAnswerError('none'), refusal(503, 'overloaded'), refusal(409, 'order-not-pending')].map(
        endInWords,
      ),
      [
        'The service is not responding. Try again in a moment.',
        'The service is unavailable right now. Try again in a moment.',
        'Its title. Its detail.',
      ],
    )
  })

  it('give the request ID for the administrator', () => {
    assert.equal(
      titleAndDetail(refusal(500, 'internal-error')),
      'Its title. Give your administrator this request ID: r-7',
    )
  })

  it('repeat what the service says about any other refusal', () => {
    assert.equal(titleAndDetail(refusal(409, 'order-not-pending')), 'Its title. Its detail.')
  })

  it('say that someone else was faster', () => {
    const failures = [refusal(412, 'precondition-failed'), refusal(409, 'concurrency-conflict')]
    for (const failure of failures) assert.match(titleAndDetail(failure), /^Someone else has changed this\. /)
  })

  it('name the field at fault', () => {
    const problem = {
      type: '',
      title: 'Invalid',
      detail: 'Errors.',
      instance: '',
      requestId: 'r-7',
      status: 400,
    }
    const errors = [{ pointer: '#/reason', code: 'length', detail: 'reason must not be blank.' }]
    const failure = readFailure(new Response('', { status: 400 }), {
      ...problem,
      code: 'validation-failed',
      errors,
    })
    assert.equal(titleAndDetail(failure), 'Invalid. The reason must not be blank.')
  })

  it('ask for a reload after a fault of the app', () => {
    assert.match(titleAndDetail(new TypeError('x')), /^Something went wrong\. Reload the page\./)
  })
})
