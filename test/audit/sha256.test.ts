// engine: none
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { sha256 } from '../../server/audit/sha256.ts'
import { sha256 as sha256OfPage } from '../../web/verify/sha256.ts'
import { forAll } from '../support/for-all.ts'

it('the page that verifies hashes as the service does', () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((some) => Buffer.from(some).toString('hex'))
  forAll(500, bytes, fc.string({ unit: 'binary', maxLength: 300 }), (hex, text) => {
    assert.equal(sha256OfPage(hex, text), sha256(hex, text))
  })
  assert.equal(sha256OfPage(''), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
})
