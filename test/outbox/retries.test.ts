// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { afterFailure, defaultRetries, longestPause } from '../../server/outbox/retries.ts'

const report = { at: 1_000_000, durationMilliseconds: 5, status: 503, failure: 'it answered 503', answer: '' }
const fresh = { failures: 0, failingSince: null }
const options = { retries: defaultRetries, random: 0.5 }
const second = 1_000
const hour = 3_600 * second

describe('after a failure', () => {
  it('a pause is up to a tenth shorter or longer', () => {
    const pauses = [0, 0.5, 0.9999].map((random) => {
      const next = afterFailure(fresh, report, { ...options, random })
      return next.kind === 'retry' && next.at - report.at
    })
    assert.deepEqual(pauses, [4_500, 5_000, 5_500])
  })

  it('a receiver can ask for a longer pause, up to an hour, and for no shorter one', () => {
    const asked = [1 * second, 60 * second, 5 * hour].map((wishedPause) => {
      const next = afterFailure(fresh, { ...report, wishedPause }, options)
      return next.kind === 'retry' && next.at - report.at
    })
    assert.deepEqual(asked, [5 * second, 60 * second, hour])
  })

  it('the last attempt is three days after the first failure, and the subscription then disabled', () => {
    const failingSince = report.at - 71 * hour
    const next = afterFailure({ failures: 12, failingSince }, report, options)
    assert.deepEqual(next, { kind: 'retry', failingSince, at: report.at + hour })
    const last = { ...report, at: failingSince + 72 * hour }
    assert.deepEqual(afterFailure({ failures: 13, failingSince }, last, options), {
      kind: 'disabled',
      because: 'failing',
    })
  })

  it('no pause is longer than the longest, and a clock that was wrong adds or takes no days', () => {
    const hours = [1, 8, 9, 30].map((failures) => longestPause(failures, defaultRetries) / hour)
    assert.deepEqual(hours, [1, 15.4, 13.2, 13.2])
    for (const ahead of [99 * hour, -99 * hour]) {
      const next = afterFailure({ failures: 3, failingSince: report.at + ahead }, report, options)
      assert.partialDeepStrictEqual(next, { kind: 'retry', failingSince: report.at })
    }
  })

  it('a receiver that is gone is disabled at once', () => {
    const next = afterFailure(fresh, { ...report, isGone: true }, options)
    assert.deepEqual(next, { kind: 'disabled', because: 'gone' })
  })
})
