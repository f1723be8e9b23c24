import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cookieValues } from '../../server/auth/session.ts'

const name = '__Host-Http-session'

describe('cookieValues', () => {
  it('takes spaces and tabs from around a pair, and nothing else', () => {
    assert.deepEqual(cookieValues(` \t${name}=a \t;\t ${name}=b;${name}=c`, name), ['a', 'b', 'c'])
    assert.deepEqual(cookieValues(`${name}= a b ;  ; \t`, name), [' a b'])
    assert.deepEqual(cookieValues(`\u00a0${name}=a; \v${name}=b; x${name}=c`, name), [])
    assert.deepEqual(cookieValues(`${name}=a\u00a0`, name), ['a\u00a0'])
    assert.deepEqual(cookieValues(`${name}=`, name), [''])
  })

  for (const blank of [' ', '\t', ' \t']) {
    it(`costs nothing to speak of, whatever a header holds: ${JSON.stringify(blank)} thousands of times`, () => {
      const header = `${name}=a${blank.repeat(15_000 / blank.length)}x`
      const times = Array.from({ length: 5 }, () => {
        const start = performance.now()
        cookieValues(header, name)
        return performance.now() - start
      })
      assert.ok(Math.min(...times) < 5, `${Math.min(...times)} ms`)
    })
  }
})
