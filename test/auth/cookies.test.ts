// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cookieValues } from '../../server/auth/credentials/sessions/cookies.ts'

const name = '__Host-Http-session'

describe('cookieValues', () => {
  it('drops only spaces and tabs around a pair', () => {
    assert.deepEqual(cookieValues(` \t${name}=a \t;\t ${name}=b;${name}=c`, name), ['a', 'b', 'c'])
    assert.deepEqual(cookieValues(`${name}= a b ;  ; \t`, name), [' a b'])
    assert.deepEqual(cookieValues(`\u00a0${name}=a; \v${name}=b; x${name}=c`, name), [])
    assert.deepEqual(cookieValues(`${name}=a\u00a0`, name), ['a\u00a0'])
    assert.deepEqual(cookieValues(`${name}=`, name), [''])
  })

  for (const blank of [' ', '\t', ' \t']) {
    // If the cost grew with the square of the length, this would not end.
    it(`takes time proportional to the length: ${JSON.stringify(blank)} a million times`, () => {
      assert.deepEqual(cookieValues(`${name}=a${blank.repeat(1_000_000)}x`, name), [
        `a${blank.repeat(1_000_000)}x`,
      ])
    })
  }
})
