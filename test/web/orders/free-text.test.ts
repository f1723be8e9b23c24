import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import '../../support/page.ts'

const { charactersLeft, readText, textLimit } = await import('../../../web/src/orders/free-text.ts')

const full = '😀'.repeat(textLimit)

describe('a text that a person writes', () => {
  it('is trimmed, and keeps its line breaks', () => {
    assert.deepEqual(readText('  One.\n\nTwo. \n', 'Enter a reason.'), { ok: true, wire: 'One.\n\nTwo.' })
  })

  it('may be empty if there is no message for that case', () => {
    assert.deepEqual(readText(' \n ', 'Enter a reason.'), { ok: false, fault: 'Enter a reason.' })
    assert.deepEqual(readText(' \n ', undefined), { ok: true, wire: '' })
  })

  it('has at most a thousand characters, counted by code points', () => {
    assert.equal(readText(full, undefined).ok, true)
    assert.deepEqual(readText(`${full}a`, undefined), {
      ok: false,
      fault: 'Write at most 1,000 characters.',
    })
  })

  it('shows how many characters are left when only a few are', () => {
    assert.equal(charactersLeft('a'.repeat(899)), undefined)
    assert.equal(charactersLeft('a'.repeat(900)), 100)
    assert.equal(charactersLeft(`${full}ab`), -2)
  })
})
