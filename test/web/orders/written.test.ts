import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import '../../support/page.ts'

const { lettersLeft, readWritten, wordsLimit } = await import('../../../web/src/orders/written.ts')

const full = '😀'.repeat(wordsLimit)

describe('what a person writes', () => {
  it('is trimmed, and keeps its line breaks', () => {
    assert.deepEqual(readWritten('  One.\n\nTwo. \n', 'Write why.'), { ok: true, text: 'One.\n\nTwo.' })
  })

  it('may be missing only where nothing is said of that', () => {
    assert.deepEqual(readWritten(' \n ', 'Write why.'), { ok: false, fault: 'Write why.' })
    assert.deepEqual(readWritten(' \n ', undefined), { ok: true, text: '' })
  })

  it('has at most a thousand characters, however many units each is', () => {
    assert.equal(readWritten(full, undefined).ok, true)
    assert.deepEqual(readWritten(`${full}a`, undefined), {
      ok: false,
      fault: 'This can have at most 1,000 characters.',
    })
  })

  it('is counted once that is worth knowing', () => {
    assert.equal(lettersLeft('a'.repeat(899)), undefined)
    assert.equal(lettersLeft('a'.repeat(900)), 100)
    assert.equal(lettersLeft(`${full}ab`), -2)
  })
})
