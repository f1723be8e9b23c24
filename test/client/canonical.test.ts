// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { canonicalJson } from '../../proof/canonical.ts'
import { anyCharacter } from '../support/any-character.ts'
import { forAll } from '../support/for-all.ts'

/** RFC 8785, appendix B: the bits of a double, and how it is printed. */
const numbers: [string, string][] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
]

describe('canonical JSON', () => {
  it('matches the example of RFC 8785 §3.2.2', () => {
    const value = JSON.parse(String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`)
    assert.equal(
      canonicalJson(value),
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
  })

  it('sorts members by UTF-16 code units, as in §3.2.3', () => {
    const value = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    }
    assert.deepEqual(
      [...canonicalJson(value).matchAll(/:"([^"]+)"/g)].map(([, name]) => name),
      [
        'Carriage Return',
        'One',
        'Control',
        'Latin Small Letter O With Diaeresis',
        'Euro Sign',
        'Emoji: Grinning Face',
        'Hebrew Letter Dalet With Dagesh',
      ],
    )
  })

  for (const [bits, printed] of numbers) {
    it(`prints the double ${bits} as ${printed}, as in appendix B`, () => {
      assert.equal(canonicalJson(Buffer.from(bits, 'hex').readDoubleBE()), printed)
    })
  }

  it('sorts members that look like numbers as text', () => {
    assert.equal(canonicalJson({ 9: 1, 10: 2, a: { __proto__: null, b: [] } }), '{"10":2,"9":1,"a":{"b":[]}}')
  })

  it('keeps a member called __proto__', () => {
    assert.equal(canonicalJson(JSON.parse('{"b":1,"__proto__":2}')), '{"__proto__":2,"b":1}')
  })

  for (const [what, value] of Object.entries({
    'a lone surrogate': '\ud800',
    'a lone surrogate in a name': { 'a\udc00': 1 },
    NaN: Number.NaN,
    'an infinity': [Number.NEGATIVE_INFINITY],
    'undefined in an object': { a: undefined },
    'a hole of an array': new Array(2),
    'a bigint': 1n,
    'a function': () => {},
    'a Date': new Date(0),
    'a Map': new Map(),
  })) {
    it(`refuses ${what}`, () => {
      assert.throws(() => canonicalJson(value), TypeError)
    })
  }

  it('keeps the value, sorts its members and drops blanks, whatever their order was', () => {
    const anyText = fc.string({ unit: anyCharacter, maxLength: 8 })
    const leaf = fc.oneof(
      anyText,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    )
    const { value: anyValue } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('value'), { maxLength: 4 }), tie('object')),
      object: fc.dictionary(anyText, tie('value'), { maxKeys: 5, noNullPrototype: true }),
    }))
    forAll(500, anyValue, (value) => {
      const canonical = canonicalJson(value)
      assert.deepEqual(JSON.parse(canonical), JSON.parse(JSON.stringify(value)))
      assert.equal(canonicalJson(reversed(JSON.parse(canonical))), canonical)
      // Read back, the names of each object are in the order of their UTF-16 code units, written
      // big-endian.
      for (const names of namesIn(canonical)) {
        const units = names.map((name) => Buffer.from(name, 'utf16le').swap16())
        assert.deepEqual(units, units.toSorted(Buffer.compare))
      }
    })
  })
})

/** The same value with the members of its objects in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const turned: [string, unknown][] = Object.entries(value).map(([name, member]) => [name, reversed(member)])
  return Object.fromEntries(turned.reverse())
}

/**
 * The names of each object's members in the order in which they are written, because JSON.parse sorts some of
 * them.
 */
function namesIn(json: string): string[][] {
  const found: string[][] = []
  const open: string[][] = []
  for (const [token, , colon] of json.matchAll(/"(?:[^"\\]|\\.)*"(\s*)(:)?|[{}]/g)) {
    if (token === '{') open.push([])
    else if (token === '}') found.push(open.pop() ?? [])
    else if (colon !== undefined) open.at(-1)?.push(JSON.parse(token.slice(0, -1)))
  }
  return found
}
