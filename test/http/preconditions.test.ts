// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { acceptedVersions, matchesNone, versionTag } from '../../server/http/preconditions.ts'
import { forAll } from '../support/for-all.ts'

describe('If-Match', () => {
  it('accepts any version when it is absent or *', () => {
    assert.equal(acceptedVersions(undefined), null)
    assert.equal(acceptedVersions('*'), null)
    assert.equal(acceptedVersions(' * '), null)
  })

  it('accepts the versions of its tags, in any list form, weakened or not', () => {
    const fields: Record<string, number[]> = {
      '"1"': [1],
      '"1","2"': [1, 2],
      ' "1" ,\t"22" ,': [1, 22],
      '"2147483647"': [2_147_483_647],
      ',,"3"': [3],
      'W/"1"': [1],
      'W/"1", "2"': [1, 2],
    }
    for (const [field, versions] of Object.entries(fields)) {
      assert.deepEqual(acceptedVersions(field), versions, field)
    }
  })

  it('accepts no version for foreign or malformed tags, so that no write passes by mistake', () => {
    const words = 'W/1 W/"x" w/"1" "x" "01" "0" "-1" "1.0" "2147483648" 1 "1 ""'.split(' ')
    for (const field of [...words, 'W /"1"', '"1" *', ''])
      assert.deepEqual(acceptedVersions(field), [], field)
  })

  it('accepts exactly the version that was sent as a tag', () => {
    forAll(100, fc.integer({ min: 1, max: 2_147_483_647 }), (version) => {
      assert.deepEqual(acceptedVersions(versionTag(version)), [version])
    })
  })
})

describe('If-None-Match', () => {
  it('sends the answer if it is absent, malformed, or names other tags', () => {
    for (const field of [undefined, '"2"', 'W/"2"', '"2", "3"', '1', '"1', '', '"11"']) {
      assert.equal(matchesNone(field, '"1"'), true, String(field))
    }
  })

  it('matches the current tag by weak comparison, anywhere in the list, or by *', () => {
    for (const field of ['"1"', 'W/"1"', '"2","1"', '"a,b", W/"1"', '*']) {
      assert.equal(matchesNone(field, '"1"'), false, field)
    }
  })

  it('never throws, and takes time proportional to the length', () => {
    const hostile = ['"'.repeat(16_000), '"1",'.repeat(4_000), ' '.repeat(16_000), 'W/'.repeat(8_000)]
    const before = process.cpuUsage()
    for (const field of hostile) {
      matchesNone(field, '"x"')
      acceptedVersions(field)
    }
    assert.ok(process.cpuUsage(before).user < 500_000)
    forAll(100, fc.string(), (field) => void [matchesNone(field, '"1"'), acceptedVersions(field)])
  })
})
