import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { bearerOf, newUser } from '../support/accounts.ts'
import { forAllAsync } from '../support/for-all.ts'
import { type OrderRow, orderRow, replaceOrders, setTimeZone } from '../support/orders.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'
import { mergeTally } from '../support/upkeep.ts'

const path = '/v1/orders/summary'
const [quarter, hour, day] = [900_000, 3_600_000, 86_400_000]

/** The date on a wall clock, from a calendar that the service does not use. */
function calendarOf(timeZone: string): (instant: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone })
  return (instant) => format.format(instant)
}

interface Tally {
  count: number
  total: number
}
type Day = { date: string } & Record<'pending' | 'approved' | 'rejected' | 'withdrawn', Tally>

const states = ['pending', 'approved', 'rejected', 'withdrawn'] as const

/** Each date of the overview with the count and total of each state, counted order by order. */
function countedDays(dates: string[], orders: readonly OrderRow[], timeZone: string): Day[] {
  const dateOf = calendarOf(timeZone)
  return dates.map((date) => {
    const tallies = states.map((state, status): [string, Tally] => {
      const these = orders.filter((order) => dateOf(order.created_at) === date && order.status === status)
      const totalE4 = these.reduce((sum, { total_e4 }) => sum + total_e4, 0)
      return [state, { count: these.length, total: totalE4 / 10_000 }]
    })
    return { date, ...Object.fromEntries(tallies) } as Day
  })
}

/** The last dates up to today, oldest first. */
function datesUpTo(now: number, timeZone: string, count: number): string[] {
  const today = Date.parse(calendarOf(timeZone)(now))
  const dates = Array.from({ length: count }, (_, age) => new Date(today - age * day).toISOString())
  return dates.map((date) => date.slice(0, 10)).reverse()
}

describe('days of the overview, in any time zone', () => {
  const service = testService({ inside: true })
  const viewer = setUp(() => service.bearer('viewer'))

  const zones = [
    'UTC',
    'Europe/Berlin',
    'America/Los_Angeles',
    'Asia/Kathmandu',
    'America/St_Johns',
    // Days that begin at one o'clock, because the clock skips midnight.
    'America/Santiago',
    'Asia/Beirut',
    // Half an hour of daylight saving.
    'Australia/Lord_Howe',
    'Pacific/Chatham',
    'Pacific/Kiritimati',
    'Pacific/Pago_Pago',
    'Etc/GMT+12',
  ]
  const last = [366, 182, 31, 9, 1]

  it('have exactly the orders of that zone’s dates', async () => {
    const order = fc.record({
      // Mostly next to midnight in some time zone.
      quarters: fc.integer({ min: -3 * 96, max: 367 * 96 }),
      off: fc.constantFrom(0, 0, 1, -1, quarter / 2),
      status: fc.constantFrom(0, 1, 2, 3),
      total_e4: fc.integer({ min: 1, max: 10_000_000 }),
    })
    await forAllAsync(
      40,
      fc.constantFrom(...zones),
      fc.constantFrom(...last),
      fc.array(order, { minLength: 20, maxLength: 60 }),
      fc.boolean(),
      async (timeZone, count, drawn, isMerged) => {
        const now = service.now()
        const latest = Math.floor(now / quarter) * quarter
        const orders = drawn.map(({ quarters, off, ...rest }) =>
          orderRow({ ...rest, created_at: latest - (quarters % (count * 96 + 96)) * quarter + off }),
        )
        await replaceOrders(service, orders)
        if (isMerged && service.db.defersTally) await mergeTally(service.db, 1_000)
        const { body } = await viewer.get(`${path}?days=${count}`, { 'time-zone': timeZone })
        assert.deepEqual(body.days, countedDays(datesUpTo(now, timeZone, count), orders, timeZone))
      },
    )
  })

  for (const [timeZone, yesterday, halfHours] of [
    ['Europe/Berlin', '2026-03-29', 46],
    ['Europe/Berlin', '2026-10-25', 50],
    ['Australia/Lord_Howe', '2026-10-04', 47],
    ['America/Santiago', '2026-09-06', 46],
    ['Asia/Kathmandu', '2026-11-20', 48],
    ['Pacific/Kiritimati', '2026-11-20', 48],
    ['Pacific/Pago_Pago', '2026-11-20', 48],
  ] as const) {
    it(`can last ${halfHours / 2} hours (${yesterday} in ${timeZone})`, async () => {
      const noon = Temporal.ZonedDateTime.from(`${yesterday}T12:00[${timeZone}]`).epochMilliseconds
      const nowMilliseconds = noon + day
      const orders = Array.from({ length: 6 * 48 }, (_, index) =>
        orderRow({ created_at: noon + (index - 3 * 48) * (hour / 2), total_e4: index + 1 }),
      )
      await replaceOrders(service, orders)
      const input = { days: 3, timeZone, nowMilliseconds }
      const { days } = await service.db.query('findOverview', input, {
        limitMilliseconds: 2_000,
        caller: 'x',
      })
      assert.deepEqual([days[1]?.date, days[1]?.pending.count], [yesterday, halfHours])
      assert.deepEqual(days, countedDays(datesUpTo(nowMilliseconds, timeZone, 3), orders, timeZone))
    })
  }

  it('are those of the caller’s own zone without the header, and otherwise of the service’s', async () => {
    const traveller = await newUser(service, { roles: ['Viewer'] })
    await setTimeZone(service, traveller.email, 'Pacific/Kiritimati')
    const { body } = await (await bearerOf(service, traveller)).get(`${path}?days=1`)
    const [today] = datesUpTo(service.now(), 'Pacific/Kiritimati', 1)
    assert.deepEqual([body.timeZone, body.days[0].date], ['Pacific/Kiritimati', today])
    assert.equal((await viewer.get(path)).body.timeZone, 'UTC')
    const other = await viewer.get(path, { 'time-zone': 'asia/tokyo' })
    assert.equal(other.body.timeZone, 'Asia/Tokyo')
  })

  it('have an entity tag for each zone', async () => {
    const of = (timeZone: string, headers = {}) => viewer.get(path, { 'time-zone': timeZone, ...headers })
    const berlin = await of('Europe/Berlin')
    const etag = berlin.headers.get('etag') ?? ''
    assert.match(berlin.headers.get('vary') ?? '', /\bTime-Zone\b/)
    assert.equal((await of('Europe/Berlin', { 'if-none-match': etag })).status, 304)
    // The same offset all year, and the same days.
    assert.equal((await of('Europe/Madrid', { 'if-none-match': etag })).status, 200)
  })

  for (const timeZone of ['Europe/Nowhere', '+01:00', 'x', '']) {
    it(`refuses the time zone ${JSON.stringify(timeZone)}`, async () => {
      assertProblem(await viewer.get(path, { 'time-zone': timeZone }), 400, 'invalid-time-zone')
    })
  }
})
