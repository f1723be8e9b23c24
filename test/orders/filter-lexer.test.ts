// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { readToken, type Token } from '../../rules/lexer.ts'
import { anyCharacter } from '../support/any-character.ts'
import { forAll } from '../support/for-all.ts'

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let token = readToken(text, 0, false)
  for (
    ;
    token.kind !== 'end';
    token = readToken(text, token.position + token.length, token.kind === 'operator')
  ) {
    tokens.push(token)
  }
  return tokens
}

const pieces = [...`a status = != ! ; : " ' \\ * ( ) -`.split(' '), ' ', '\t', '\u00a0']
const anyText = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map((list) => list.join('')),
  fc.string({ unit: anyCharacter, maxLength: 30 }),
)

describe('the lexer, with a text that is still being typed', () => {
  it('reads on after a fault, to the end of any text, with nothing but white space between two tokens', () => {
    forAll(5000, anyText, (text) => {
      let end = 0
      for (const { position, length } of tokensOf(text)) {
        assert.ok(length > 0)
        assert.equal(text.slice(end, position).trim(), '')
        end = position + length
      }
      assert.equal(text.slice(end).trim(), '')
    })
  })

  it('says what is missing to close a string: with that it is complete, and means the same', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const open = tokensOf(text).find(({ closing }) => closing !== '')
        fc.pre(open !== undefined && !/\\$/.test(text))
        const closed = tokensOf(text + open.closing).at(-1)
        assert.deepEqual([closed?.position, closed?.text, closed?.closing], [open.position, open.text, ''])
      }),
      { numRuns: 3000, maxSkipsPerRun: 1000 },
    )
    assert.deepEqual(
      ['"a', "'a\\", '"a\\\\'].map((text) => tokensOf(text)[0]?.closing),
      ['"', "\\'", '"'],
    )
  })

  it('reports tokens that no filter can have, one fault for each', () => {
    const faultsOf = (text: string) =>
      tokensOf(text).map(({ kind, fault }) => [kind, fault?.position, fault?.length])
    assert.deepEqual(faultsOf('a;b !'), [
      ['word', undefined, undefined],
      ['junk', 1, 1],
      ['word', undefined, undefined],
      ['junk', 4, 1],
    ])
    assert.deepEqual(faultsOf('"a\tb" "c'), [
      ['string', 2, 1],
      ['string', 6, 2],
    ])
  })
})
