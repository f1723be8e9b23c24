import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import '../../support/page.ts'

const { innerAddress } = await import('../../../web/src/auth/inner-address.ts')

describe('the address after a sign-in', () => {
  it('is the requested one, without a fragment', () => {
    assert.equal(innerAddress('/orders?filter=customer%3Aa#top'), '/orders?filter=customer%3Aa')
    assert.equal(innerAddress(`${location.origin}/log`), '/log')
  })

  const outside = ['https://evil.example/orders', '//evil.example', '/\\evil.example', '/\t/evil.example']
  for (const address of [...outside, 'javascript:alert(1)', 'https://', 7, undefined]) {
    it(`is the overview instead of ${JSON.stringify(address)}`, () =>
      assert.equal(innerAddress(address), '/'))
  }
})
