// engine: none
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { it } from 'node:test'
import fc from 'fast-check'
import { sha256 } from '../../proof/sha256.ts'
import { forAll } from '../support/for-all.ts'

it('hashes bytes and texts as Node does', () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((some) => Buffer.from(some))
  forAll(500, bytes, fc.string({ unit: 'binary', maxLength: 300 }), (some, text) => {
    assert.equal(sha256(some.toString('hex'), text), hash('sha256', Buffer.concat([some, Buffer.from(text)])))
  })
  assert.equal(sha256(''), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
})
