import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import catalogue from '../../../web/src/problems/catalogue.json' with { type: 'json' }
import { exampleOf, linesOf } from '../../../web/src/problems/example.ts'
import { matches, nearestCodes } from '../../../web/src/problems/words.ts'
import { piecesOf } from '../../../web/src/ui/backticks.ts'

const problems = Object.entries(catalogue)
const codes = Object.keys(catalogue)

describe('the pages of the problems', () => {
  it('show the status of every problem', () => {
    for (const [code, { reason }] of problems) assert.match(reason, /^[A-Z]/, code)
  })

  it('show an example answer with the members of every problem', () => {
    for (const [code, entry] of problems) {
      const { head, body } = exampleOf(code, entry, 'https://orders.example.com')
      assert.equal(head[0], `HTTP/1.1 ${entry.status} ${entry.reason}`)
      const { type, title, status, detail, instance, requestId, ...more } = JSON.parse(body)
      assert.equal(type, `https://orders.example.com/problems/${code}`)
      assert.deepEqual([title, status, more.code], [entry.title, entry.status, code])
      for (const text of [detail, instance, requestId]) assert.match(text, /./)
    }
  })

  it('print that example unchanged', () => {
    const { body } = exampleOf('validation-failed', catalogue['validation-failed'], 'http://localhost')
    const printed = linesOf(body).map(({ indent, name, rest }) => indent + name + rest)
    assert.equal(printed.join('\n'), body)
  })

  it('mark code, and keep the whole remedy', () => {
    assert.deepEqual(piecesOf('Wait `Retry-After` seconds.'), [
      { at: 0, text: 'Wait ', isCode: false },
      { at: 1, text: 'Retry-After', isCode: true },
      { at: 2, text: ' seconds.', isCode: false },
    ])
    for (const [, { remedy }] of problems) {
      const whole = piecesOf(remedy).map(({ text, isCode }) => (isCode ? `\`${text}\`` : text))
      assert.equal(whole.join(''), remedy)
    }
  })

  it('are found by code, status and words, all of which must match', () => {
    const found = (search: string) =>
      problems.filter(([code, entry]) => matches(code, entry, search)).map(([code]) => code)
    assert.equal(found('').length, codes.length)
    assert.deepEqual(found('409 pending'), ['order-not-pending'])
    assert.deepEqual(found('Conflict idempotency KEY'), ['idempotency-in-progress'])
    assert.deepEqual(found('nothing like it'), [])
  })

  it('suggest codes for a mistyped one', () => {
    assert.equal(nearestCodes('order-notfound', codes)[0], 'order-not-found')
    assert.equal(nearestCodes('Validation_Failed', codes)[0], 'validation-failed')
    assert.equal(nearestCodes('csrf', codes)[0], 'csrf-token-missing')
    assert.equal(nearestCodes('x'.repeat(10_000), codes).length, 4)
  })
})
