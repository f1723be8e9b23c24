import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { customerField } from '../../../server/orders/schemas.ts'
import { charactersLeft, readCustomer } from '../../../web/src/orders/create/customer-input.ts'
import { shortName } from '../../../web/src/ui/format.ts'
import { anyCharacter } from '../../support/any-character.ts'
import { forAll } from '../../support/for-all.ts'

const faultOf = (text: string) => {
  const reading = readCustomer(text)
  return reading.ok ? `read as ${reading.wire}` : reading.fault
}

describe('readCustomer', () => {
  it('accepts trimmed text in normalisation form C', () => {
    assert.deepEqual(readCustomer('\u00a0 Mu\u0308ller & Söhne '), { ok: true, wire: 'Müller & Söhne' })
    assert.deepEqual(readCustomer('\t😀\n'), { ok: true, wire: '😀' })
  })

  it('counts code points after trimming', () => {
    assert.ok(readCustomer(` ${'😀'.repeat(200)} `).ok)
    assert.equal(faultOf('😀'.repeat(201)), 'The name can have at most 200 characters.')
  })

  it('refuses text that is blank, has control characters or is malformed', () => {
    assert.equal(faultOf(' \u3000 '), 'Enter the name of the customer.')
    assert.equal(faultOf('A\tB'), 'The name contains a tab or another invisible character. Remove it.')
    assert.equal(faultOf('A\u0085B'), 'The name contains a tab or another invisible character. Remove it.')
    assert.equal(faultOf('A\ud800'), 'A character in the name is damaged. Type it again.')
  })

  it('refuses characters that are invisible or reorder text', () => {
    for (const text of ['\u200b', '\u3164', '\u2800 \u00ad', '\u0301']) {
      assert.match(faultOf(text), /no visible characters/, encodeURIComponent(text))
    }
    for (const text of ['A\u202eB', '\u2067A\u2069', 'A\u200f', '\u061cA']) {
      assert.match(faultOf(text), /changes the order/, encodeURIComponent(text))
    }
  })

  it('accepts only what the service accepts, and sends what the service keeps', () => {
    const text = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 210 }),
      fc.string({ unit: 'grapheme', maxLength: 210 }),
      fc
        .array(fc.constantFrom('a', ' ', '\u200b', '\u202e', '\u2069', '\u3164', '\u2800'), { maxLength: 4 })
        .map((all) => all.join('')),
      fc.constantFrom(' ', 'a', '\u0308', '\u0344', '\u2126', '\ud800').map((unit) => unit.repeat(101)),
    )
    forAll(1_000, text, (given) => {
      const reading = readCustomer(given)
      const kept = reading.ok ? customerField.read(reading.wire) : undefined
      assert.equal(kept, reading.ok ? reading.wire : undefined)
    })
  })
})

it('charactersLeft shows the number near the limit and beyond it', () => {
  assert.equal(charactersLeft('a'.repeat(159)), undefined)
  assert.equal(charactersLeft(` ${'a'.repeat(160)} `), 40)
  assert.equal(charactersLeft('😀'.repeat(200)), 0)
  assert.equal(charactersLeft('a'.repeat(203)), -3)
})

it('shortName cuts only between characters as people see them', () => {
  assert.equal(shortName('Ada'), 'Ada')
  assert.equal(shortName('😀😀😀', 2), '😀…')
  assert.equal(shortName('👩‍👩‍👧e\u0301z', 3), '👩‍👩‍👧e\u0301z')
  assert.equal(shortName('👩‍👩‍👧e\u0301zz', 3), '👩‍👩‍👧e\u0301…')
})
