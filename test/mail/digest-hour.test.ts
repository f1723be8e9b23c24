// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nextDigest } from '../../server/mail/settings.ts'

const next = (zone: string, hour: number, after: string) =>
  new Date(nextDigest(zone, hour, Date.parse(after))).toISOString().replace('.000', '')

describe('the hour of the daily mail', () => {
  it('is the next one, never the present one', () => {
    assert.equal(next('Europe/Berlin', 8, '2026-11-28T06:59:59.999Z'), '2026-11-28T07:00:00Z')
    assert.equal(next('Europe/Berlin', 8, '2026-11-28T07:00:00Z'), '2026-11-29T07:00:00Z')
    assert.equal(next('Pacific/Kiritimati', 0, '2026-12-31T09:59:59Z'), '2026-12-31T10:00:00Z')
    assert.equal(next('Asia/Kathmandu', 23, '2026-11-28T12:00:00Z'), '2026-11-28T17:15:00Z')
  })

  it('stays the local hour when clocks change', () => {
    assert.equal(next('Europe/Berlin', 8, '2026-03-28T07:00:00Z'), '2026-03-29T06:00:00Z')
    assert.equal(next('Europe/Berlin', 8, '2026-10-24T06:00:00Z'), '2026-10-25T07:00:00Z')
  })

  it('comes once on a day that skips it, and once on a day that has it twice', () => {
    assert.equal(next('Europe/Berlin', 2, '2026-03-28T01:00:00Z'), '2026-03-29T01:00:00Z')
    assert.equal(next('Europe/Berlin', 2, '2026-03-29T01:00:00Z'), '2026-03-30T00:00:00Z')
    assert.equal(next('Europe/Berlin', 2, '2026-10-24T00:00:00Z'), '2026-10-25T00:00:00Z')
    assert.equal(next('Europe/Berlin', 2, '2026-10-25T00:00:00Z'), '2026-10-26T01:00:00Z')
  })

  it('is found for each hour of each zone, within a day and the hours that a zone may skip', () => {
    const after = Date.parse('2026-03-28T20:00:00Z')
    for (const zone of Intl.supportedValuesOf('timeZone')) {
      for (let hour = 0; hour < 24; hour += 1) {
        const at = nextDigest(zone, hour, after)
        assert.ok(at > after && at <= after + 26 * 3_600_000, `${zone} ${hour}`)
      }
    }
  })
})
