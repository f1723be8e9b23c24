import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Day } from '../../../web/src/overview/figures.ts'
import '../../support/page.ts'

const { agesOf, daysOfAges } = await import('../../../web/src/overview/waiting/ages.ts')

const tallies = (count: number) => ({
  pending: { count, total: count },
  approved: { count: 7, total: 7 },
  rejected: { count: 7, total: 7 },
  withdrawn: { count: 7, total: 7 },
})

/** Days up to 31 December, each with the given number of waiting orders, by its age in days. */
function daysWith(counts: Record<number, number>, length = daysOfAges): Day[] {
  return Array.from({ length }, (_, index) => ({
    date: new Date(Date.UTC(2026, 11, 32 - length + index)).toISOString().slice(0, 10),
    ...tallies(counts[length - 1 - index] ?? 0),
  }))
}

describe('the ages of waiting orders', () => {
  it('count each day once, and the rest as older', () => {
    const recent = daysWith({ 0: 1, 1: 10, 2: 20, 3: 100, 7: 200, 8: 1_000, 30: 2_000 })
    const ages = agesOf({ all: tallies(13_331), recent })
    assert.deepEqual(
      ages.map(({ name, count }) => [name, count]),
      [
        ['Today', 1],
        ['1–2 days', 30],
        ['3–7 days', 300],
        ['8–30 days', 3_000],
        ['Over 30 days', 10_000],
      ],
    )
  })

  it('have filters that cover every day exactly once', () => {
    const ages = agesOf({ all: tallies(0), recent: daysWith({}) })
    assert.deepEqual(
      ages.map(({ filter }) => filter),
      [
        'status=Pending createdAtUtc>=2026-12-31',
        'status=Pending createdAtUtc>=2026-12-29 createdAtUtc<2026-12-31',
        'status=Pending createdAtUtc>=2026-12-24 createdAtUtc<2026-12-29',
        'status=Pending createdAtUtc>=2026-12-01 createdAtUtc<2026-12-24',
        'status=Pending createdAtUtc<2026-12-01',
      ],
    )
  })

  it('stay the same when more days are known', () => {
    const counts = { 5: 3, 30: 4, 31: 5, 150: 6 }
    const of = (length: number) => agesOf({ all: tallies(18), recent: daysWith(counts, length) })
    assert.deepEqual(of(180), of(daysOfAges))
    assert.equal(of(180).at(-1)?.count, 11)
  })
})
