// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { namesOfZone } from '../../server/orders/filter/zones.ts'
import { filterTable } from '../support/filter-table.ts'
import { orderRow } from '../support/orders.ts'

const stored = ['Asia/Kolkata', 'Asia/Calcutta', 'Europe/Kyiv', 'Europe/Kiev', 'Europe/Berlin', 'Etc/GMT+5']

describe('a zone in a filter', () => {
  const found = filterTable(
    stored.map((zone) =>
      orderRow({ customer: zone, created_at_time_zone: zone, updated_at_time_zone: null }),
    ),
  )
  const cases: [filter: string, names: string[]][] = [
    ['createdAtTimeZone=Asia/Kolkata', ['Asia/Calcutta', 'Asia/Kolkata']],
    ['createdAtTimeZone="asia/calcutta"', ['Asia/Calcutta', 'Asia/Kolkata']],
    ['createdAtTimeZone:Europe/Kiev', ['Europe/Kiev', 'Europe/Kyiv']],
    ['createdAtTimeZone!=Asia/Kolkata', ['Etc/GMT+5', 'Europe/Berlin', 'Europe/Kiev', 'Europe/Kyiv']],
    ['createdAtTimeZone:GMT', ['Etc/GMT+5']],
    ['createdAtTimeZone=Europe/Ki*', ['Europe/Kiev']],
    ['createdAtTimeZone:Kolk', ['Asia/Kolkata']],
    ['createdAtTimeZone=Europe/Berlin', ['Europe/Berlin']],
    ['NOT updatedAtTimeZone=Asia/Kolkata createdAtTimeZone=Europe/Kyiv', ['Europe/Kiev', 'Europe/Kyiv']],
  ]
  for (const [filter, names] of cases) {
    it(filter, async () => assert.deepEqual(await found(filter, 'customer'), names))
  }
})

describe('the names of a zone', () => {
  it('are all that Intl takes for one', () => {
    const sizes = ['utc', 'asia/kolkata', 'europe/berlin', 'nowhere'].map((name) => namesOfZone(name).length)
    assert.deepEqual(
      [sizes[0], sizes[1], sizes[2], sizes[3]].map((size) => Number(size) > 1),
      [true, true, false, false],
    )
    for (const name of ['utc', 'asia/kolkata']) {
      const [first, ...others] = namesOfZone(name).map((timeZone) =>
        Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(timeZone),
      )
      for (const other of others) assert.ok(first?.equals(other), other.timeZoneId)
    }
  })
})
