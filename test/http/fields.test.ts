// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { codePoints, readInt32 } from '../../server/http/fields.ts'
import { parseQuery, undecodable } from '../../server/http/form-text.ts'
import { anyCharacter } from '../support/any-character.ts'
import { forAll } from '../support/for-all.ts'

const plain = (text: string) => Object.fromEntries(Object.entries(parseQuery(text)))

function decoded(text: string): unknown {
  try {
    return decodeURIComponent(text)
  } catch {
    return undecodable
  }
}

describe('parseQuery', () => {
  it('decodes names and values; + is a space', () => {
    assert.deepEqual(plain('a=1&b=x+y%20z&%63=%C3%A4&d=1=2'), { a: '1', b: 'x y z', c: 'ä', d: '1=2' })
  })

  it('reads a name without a value as empty, and skips empty pairs', () => {
    assert.deepEqual(plain('a&b=&&=c&'), { a: '', b: '', '': 'c' })
    assert.deepEqual(plain(''), {})
  })

  it('distinguishes repeated values of a name from a single one', () => {
    assert.ok(Array.isArray(plain('a=1&a=1').a))
    assert.ok(Array.isArray(plain('a=&a=1').a))
    assert.ok(Array.isArray(plain('a=1&a=2&a=3').a))
    assert.ok(Array.isArray(plain('a=1&%61=2').a))
  })

  it('marks what is not percent-encoded UTF-8, and never throws', () => {
    assert.deepEqual(plain('a=%&b=%zz&c=%ff&d=%c0%af&e=%ed%a0%80'), {
      a: undecodable,
      b: undecodable,
      c: undecodable,
      d: undecodable,
      e: undecodable,
    })
    assert.deepEqual(plain('%ff=1&a=1'), { a: '1' })
    assert.doesNotThrow(() => parseQuery('a=%&a=%'))
    forAll(100, fc.string({ unit: anyCharacter }), (text) => void parseQuery(text))
  })

  it('decodes as decodeURIComponent does', () => {
    const piece = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 2 }),
      fc.constantFrom(...'% %4 %41 %C3 %A4 %c3%a4 %E2%82%AC %ED%A0%80 %F0%9F%98%80 %80 g'.split(' ')),
    )
    forAll(100, fc.array(piece), (pieces) => {
      const text = pieces.join('').replaceAll(/[&=+]/g, '')
      assert.equal(parseQuery(`a=${text}`).a, decoded(text))
    })
  })

  const costly = {
    'one name, over and over, undecodable': 'a=%&'.repeat(2_000),
    'undecodable bytes': 'a=%ff&'.repeat(1_300),
    'undecodable names': '%ff=&'.repeat(1_600),
    'many undecodable names': Array.from({ length: 1_300 }, (_, at) => `${at.toString(36)}=%&`).join(''),
  }
  for (const [what, text] of Object.entries(costly)) {
    // If the cost grew with the square of the length, this would not end.
    it(`costs time proportional to the length of the URL: ${what}`, () => {
      const long = text.repeat(100)
      assert.deepEqual(Object.keys(parseQuery(long)), Object.keys(parseQuery(text)))
    })
  }

  it('cannot reach a prototype', () => {
    const query = parseQuery('__proto__=x&constructor=y&toString=z')
    assert.equal(Object.getPrototypeOf(query), null)
    assert.deepEqual(Object.keys(query), ['__proto__', 'constructor', 'toString'])
    assert.equal(({} as { x?: unknown }).x, undefined)
  })

  it('reads back what URLSearchParams wrote', () => {
    const entries = fc.uniqueArray(
      fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })),
      {
        selector: ([name]) => name,
      },
    )
    forAll(100, entries, (pairs) => {
      const query = parseQuery(new URLSearchParams(pairs).toString())
      for (const [name, value] of pairs) assert.equal(query[name], value)
    })
  })
})

describe('readInt32', () => {
  it('takes every int32 as a number and as digits', () => {
    forAll(100, fc.integer(), (value) => {
      assert.equal(readInt32(value), value)
      assert.equal(readInt32(String(value)), value)
    })
    for (const value of [2_147_483_647, -2_147_483_648]) assert.equal(readInt32(String(value)), value)
  })

  it('coerces nothing else', () => {
    const others = [' 1', '1 ', '+1', '01', '1.0', '1e1', '', '0x1', '１', '--1', '2147483648', '-2147483649']
    const values = [
      1.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      2_147_483_648,
      true,
      null,
      undefined,
      [],
      [1],
      {},
    ]
    for (const value of [...others, ...values, '9'.repeat(400)]) {
      assert.equal(readInt32(value), undefined, String(value))
    }
  })
})

it('codePoints counts characters, not UTF-16 units', () => {
  assert.equal(codePoints('a𝄞ä'), 3)
  forAll(100, fc.string({ unit: anyCharacter }), (text) => assert.equal(codePoints(text), [...text].length))
})
