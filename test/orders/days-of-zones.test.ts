// engine: none

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { tallySpans } from '../../server/db/tables.ts'

it('a day begins with a quarter of an hour in UTC, in every time zone, on either side of each clock change', () => {
  const until = Temporal.Instant.from('2050-01-01T00:00Z')
  for (const timeZone of Intl.supportedValuesOf('timeZone')) {
    let change: Temporal.ZonedDateTime | null =
      Temporal.Instant.from('1980-01-01T00:00Z').toZonedDateTimeISO(timeZone)
    while (change !== null && change.epochMilliseconds < until.epochMilliseconds) {
      for (const days of [-1, 0, 1]) {
        const start: Temporal.ZonedDateTime = change.toPlainDate().add({ days }).toZonedDateTime(timeZone)
        assert.equal(start.epochMilliseconds % tallySpans.quarter, 0, String(start))
      }
      change = change.getTimeZoneTransition('next')
    }
  }
})
