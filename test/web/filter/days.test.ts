import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { FilterError } from '../../../server/orders/filter/fault.ts'
import type { Filter } from '../../../server/orders/filter/parser.ts'
import { complete } from '../../../web/src/orders/filter/completion.ts'
import { askedOf, requiredDays, withDays } from '../../../web/src/orders/filter/days.ts'
import { forAll } from '../../support/for-all.ts'
import { acceptedFilter, anyText, meaningOf } from './texts.ts'
import { beginInUtc, inZone } from './zone.ts'

/** The day that a row shows for an instant, from the formatter alone. */
function shownDay(instant: number, zone: string): string {
  const known = formats.get(zone)
  const format = known ?? new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' })
  formats.set(zone, format)
  return format.format(instant)
}
const formats = new Map<string, Intl.DateTimeFormat>()

function dayBeside(date: string, distance: number): string {
  return new Date(Date.parse(date) + distance * 86_400_000).toISOString().slice(0, 10)
}

/** Whether the service, asked with this text of the box, finds an order that was created then. */
function finds(typed: string, instant: number): boolean {
  const filter = meaningOf(askedOf(typed).text)
  if (filter === null || filter instanceof FilterError) throw new Error(`no filter: ${typed}`)
  return holds(filter, instant)
}

function holds(filter: Filter, instant: number): boolean {
  if (filter.kind === 'and') return filter.operands.every((operand) => holds(operand, instant))
  if (filter.kind === 'or') return filter.operands.some((operand) => holds(operand, instant))
  if (filter.kind === 'not') return !holds(filter.operand, instant)
  if (filter.kind !== 'number') throw new Error(`no comparison of times: ${filter.kind}`)
  const { low, high } = filter.range
  const isIn = low <= instant && instant < high
  const answers = { '=': isIn, '!=': !isIn, '<': instant < low, '<=': instant < high }
  return { ...answers, '>': instant >= high, '>=': instant >= low }[filter.operator]
}

const zones = Intl.supportedValuesOf('timeZone')
/** Zones in which days begin early, late, at odd minutes, or on some days not at midnight. */
const oddZones = [
  ...['Pacific/Auckland', 'Pacific/Chatham', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Pacific/Apia'],
  ...['America/Havana', 'America/Santiago', 'Africa/Cairo', 'Asia/Beirut', 'Asia/Kathmandu'],
  ...['Australia/Lord_Howe', 'America/St_Johns', 'America/Scoresbysund', 'Europe/London', 'Asia/Tehran'],
]
const anyZone = fc.oneof(fc.constantFrom(...zones), fc.constantFrom(...oddZones), fc.constant('UTC'))
const [first, last] = [Date.UTC(2024, 0, 1), Date.UTC(2037, 11, 31)]
const anyInstant = fc.integer({ min: first, max: last })

describe('a day in the search box', () => {
  beginInUtc()

  it('finds an order by the day that its row shows, in every zone', () => {
    assert.ok(zones.length > 400)
    for (const zone of [...zones, ...oddZones]) {
      inZone(zone)
      forAll(4, anyInstant, (instant) => assertFound(instant, zone))
    }
  })

  it('does so around every clock change', () => {
    for (const zone of oddZones) {
      inZone(zone)
      for (const change of changesOf(zone)) {
        for (const minutes of [-1440, -61, -60, -30, -1, 0, 1, 29, 30, 59, 60, 61, 1440]) {
          assertFound(change + minutes * 60_000, zone)
        }
        assertFound(change - 1, zone)
      }
    }
  })

  function assertFound(instant: number, zone: string): void {
    const day = shownDay(instant, zone)
    const [before, after] = [dayBeside(day, -1), dayBeside(day, 1)]
    const label = `${zone} ${new Date(instant).toISOString()} is ${day}`
    for (const [text, isFound] of [
      [`createdAtUtc=${day}`, true],
      [`createdAtUtc:"${day}"`, true],
      [`createdAtUtc>=${day} CREATEDATUTC<=${day}`, true],
      [`createdAtUtc>${before} createdAtUtc<${after}`, true],
      [`-createdAtUtc=${day}`, false],
      [`NOT createdAtUtc!=${day}`, true],
      [`createdAtUtc!=${day} OR createdAtUtc<${day}`, false],
      [`createdAtUtc>${day}`, false],
      [`createdAtUtc<${day}`, false],
      [`createdAtUtc=${before}`, false],
      [`createdAtUtc=${after}`, false],
    ] as const) {
      assert.equal(finds(text, instant), isFound, `${text}: ${label}`)
    }
  }

  /** The instants at which the zone's distance from UTC changes in these years. */
  function changesOf(zone: string): number[] {
    const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
    const offsetAt = (instant: number) => format.formatToParts(instant).at(-1)?.value
    const changes: number[] = []
    for (let day = Date.UTC(2026, 0, 1); day < Date.UTC(2028, 0, 1); day += 86_400_000) {
      if (offsetAt(day) === offsetAt(day + 86_400_000)) continue
      let [low, high] = [day, day + 86_400_000]
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2)
        if (offsetAt(middle) === offsetAt(low)) low = middle
        else high = middle
      }
      changes.push(high)
    }
    return changes
  }

  it('is sent as instants, without changing anything else', () => {
    inZone('Pacific/Auckland')
    const asked: [string, string][] = [
      ['createdAtUtc>=2026-11-23', 'createdAtUtc>=2026-11-22T11:00:00Z'],
      [
        'acme  createdatutc = "2026-11-23"',
        'acme  (createdAtUtc>=2026-11-22T11:00:00Z createdAtUtc<2026-11-23T11:00:00Z)',
      ],
      ['(a OR updatedAtUtc<=2026-11-22)', '(a OR updatedAtUtc<2026-11-22T11:00:00Z)'],
      ...[
        'createdAtUtc=2026-11-22T11:00:00Z',
        'createdAtUtc=2026-02-30',
        'createdAtUtc=2026-11-2',
        'createdAtUtc=0000-01-01',
        'updatedAtUtc:*',
        'customer=2026-11-22',
        'id:2026-11-22',
        '2026-11-22',
        '"createdAtUtc=2026-11-22"',
        'createdAtUtc=',
        '=2026-11-22',
      ].map((text): [string, string] => [text, text]),
    ]
    for (const [typed, text] of asked) assert.equal(askedOf(typed).text, text)
  })

  it('is accepted by the service if it was accepted before', () => {
    forAll(
      500,
      acceptedFilter,
      anyZone,
      fc.constantFrom('=', '!=', '<', '>=', ':'),
      (text, zone, operator) => {
        inZone(zone)
        const typed = `${text} -updatedAtUtc${operator}2026-11-20 (b OR createdAtUtc${operator}2026-03-29)`
        // A day with = or != is two restrictions when it is sent.
        fc.pre(!(meaningOf(`${typed} x x`) instanceof FilterError))
        assert.ok(!(meaningOf(askedOf(typed).text) instanceof FilterError), typed)
      },
    )
  })

  it('is where a fault from the service points, although it was sent as instants', () => {
    inZone('Pacific/Auckland')
    for (const typed of [
      'a createdAtUtc=2026-11-23 total=abc',
      'a (total=abc createdAtUtc>2026-11-23',
      'total=abc',
    ]) {
      const { text, typedPart } = askedOf(typed)
      const part = typedPart({ position: text.indexOf('abc'), length: 3 })
      assert.deepEqual(part, { position: typed.indexOf('abc'), length: 3 })
    }
    const typed = 'a createdAtUtc=2026-11-23 b'
    const day = { position: 2, length: 23 }
    assert.deepEqual(askedOf(typed).typedPart({ position: 2, length: 1 }), day)
    assert.deepEqual(askedOf(typed).typedPart({ position: 30, length: 10 }), day)
    assert.deepEqual(askedOf(typed).typedPart({ position: 0, length: 1 }), { position: 0, length: 1 })
  })

  it('keeps a marked part inside its text, for any text', () => {
    forAll(500, anyText, fc.nat({ max: 99 }), fc.nat({ max: 99 }), (text, position, length) => {
      const typed = `createdAtUtc=2026-11-23 ${text}`
      const asked = askedOf(typed)
      const from = Math.min(position, asked.text.length)
      const part = asked.typedPart({ position: from, length: Math.min(length, asked.text.length - from) })
      assert.ok(part.position >= 0 && part.length >= 0 && part.position + part.length <= typed.length)
    })
  })
})

describe('named days', () => {
  beginInUtc()

  const namesAt = (iso: string, zone: string) => {
    inZone(zone)
    const text = 'createdAtUtc='
    const context = { nowMilliseconds: Date.parse(iso), userName: '' }
    return complete(text, text.length, context).map(({ insert: label, hint }) => `${label} ${hint}`)
  }

  it('are the person’s days, with weeks from Monday; no day is listed twice', () => {
    assert.deepEqual(namesAt('2026-11-22T12:30:00Z', 'Pacific/Auckland'), [
      '2026-11-23 today, start of this week',
      '2026-11-22 yesterday',
      '2026-11-01 start of this month',
      '2026-01-01 start of this year',
    ])
    assert.deepEqual(namesAt('2026-06-01T00:30:00Z', 'America/New_York'), [
      '2026-05-31 today',
      '2026-05-30 yesterday',
      '2026-05-25 start of this week',
      '2026-05-01 start of this month',
      '2026-01-01 start of this year',
    ])
  })

  it('that mean today find an order created just now, in every zone', () => {
    forAll(500, anyZone, anyInstant, (zone, instant) => {
      const [today = ''] = namesAt(new Date(instant).toISOString(), zone)
      assert.ok(finds(`createdAtUtc=${today.slice(0, 10)}`, instant), zone)
    })
  })
})

describe('the range of days', () => {
  const ranges: [string, string, string][] = [
    ['', '', ''],
    ['acme status=Pending', '', ''],
    ['createdAtUtc>=2026-11-01', '2026-11-01', ''],
    ['createdAtUtc<2026-11-01 acme', '', '2026-10-31'],
    ['createdAtUtc>2026-10-31 createdAtUtc<=2026-11-05', '2026-11-01', '2026-11-05'],
    ['createdAtUtc:"2026-11-01"', '2026-11-01', '2026-11-01'],
    ['createdAtUtc>=2026-11-01 createdAtUtc>=2026-11-03', '2026-11-03', ''],
    ['createdAtUtc!=2026-11-01', '', ''],
    ['createdAtUtc>=2026-11-01T10:00:00Z', '', ''],
    ['createdAtUtc>=2026-11-01 OR acme', '', ''],
    ['updatedAtUtc>=2026-11-01', '', ''],
  ]
  for (const [text, from, to] of ranges) {
    it(`in "${text}" is "${from}" to "${to}"`, () => assert.deepEqual(requiredDays(text), { from, to }))
  }

  it('replaces the one before, and can be removed again', () => {
    const days = { from: '2026-11-01', to: '2026-11-05' }
    assert.equal(withDays('acme', days), 'acme createdAtUtc>=2026-11-01 createdAtUtc<=2026-11-05')
    assert.equal(
      withDays('createdAtUtc=2026-01-01 acme', { ...days, to: days.from }),
      'createdAtUtc=2026-11-01 acme',
    )
    assert.equal(
      withDays('a createdAtUtc>2026-01-01 b', { from: '', to: '2026-11-05' }),
      'a createdAtUtc<=2026-11-05 b',
    )
    assert.equal(withDays('a AND createdAtUtc>2026-01-01', { from: '', to: '' }), 'a')
    assert.equal(withDays('a OR createdAtUtc>2026-01-01', days), null)
    assert.equal(withDays('"a', days), null)
  })

  it('reads back as it was set', () => {
    const date = fc.integer({ min: 0, max: 40_000 }).map((day) => dayBeside('1970-01-01', day))
    const edge = fc.oneof(date, fc.constant(''))
    forAll(100, acceptedFilter, edge, edge, (text, from, to) => {
      const edited = withDays(text, { from, to })
      fc.pre(edited !== null && !(meaningOf(`${text} x x`) instanceof FilterError))
      assert.deepEqual(requiredDays(edited), { from, to })
      assert.ok(!(meaningOf(edited) instanceof FilterError))
    })
  })
})
