import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { newUser } from '../support/accounts.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import {
  heading,
  listRequests,
  nameCard,
  signInByForm,
  signInHeading,
  waitForAddress,
  waitForFocus,
} from '../support/browser/journeys.ts'
import { showsCustomers, visit } from '../support/browser/orders.ts'
import { openBrowser, type Person } from '../support/browser/person.ts'
import { button } from '../support/browser/question.ts'
import { createdId, insertOrders, type OrderRow, orderRow, storedState } from '../support/orders.ts'
import { policyRow, putPolicy } from '../support/policy.ts'
import { addRole } from '../support/roles.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const day = 86_400_000

/** Midnight UTC today, from which all days here are counted. */
const today = Math.floor(Date.now() / day) * day

const service = await startService({ clockRuns: true })
const empty = await startService({ clockRuns: true })
after(() => Promise.all([service.close(), empty.close()]))
await insertOrders(service, [
  ...ordersOf(0, { pending: [12.5, 0.0001], approved: [100] }),
  ...ordersOf(1, { pending: [], approved: [7, 8.25, 9] }),
  ...ordersOf(3, { pending: [1_000_000], approved: [] }),
  ...ordersOf(6, { pending: [6], approved: [6] }),
  ...ordersOf(20, { pending: [20.2], approved: [20], rejected: [3, 4.5], withdrawn: [0.5] }),
  ...ordersOf(45, { pending: [], approved: [45, 4_500.75] }),
  ...ordersOf(130, { pending: [130], approved: [99_999_999.9999] }),
  ...ordersOf(400, { pending: [400], approved: [] }),
])

describe('the overview', () => {
  const person = browser.stayingPerson({ service })

  async function atTheOverview(person: Person, address = '/'): Promise<Page> {
    const page = await visit(person, 'admin', address)
    await figure(page, 'Approved').waitFor()
    return page
  }

  it('shows the figures of the database', async () => {
    const page = await atTheOverview(person)
    const { orders } = await storedState(service)
    const [pending, approved, rejected, withdrawn] = [0, 1, 2, 3].map((status) =>
      orders.filter((order) => order.status === status),
    )
    const recent = orders.filter(({ created_at }) => created_at >= today - 29 * day)
    const before = orders.filter(
      ({ created_at }) => created_at >= today - 59 * day && created_at < today - 29 * day,
    )
    assert.deepEqual(await valuesOf(page, 'Pending'), [pending?.length, sumOf(pending)])
    assert.deepEqual(await valuesOf(page, 'Approved'), [approved?.length, sumOf(approved)])
    assert.deepEqual(await valuesOf(page, 'Rejected'), [rejected?.length, sumOf(rejected)])
    assert.deepEqual(await valuesOf(page, 'Withdrawn'), [withdrawn?.length, sumOf(withdrawn)])
    assert.deepEqual(await valuesOf(page, 'Last 30 days'), [recent.length])
    await figure(page, 'Last 30 days').getByText(`${before.length} in the 30 days before`).waitFor()
    assert.deepEqual(await valuesOf(page, 'Share approved'), [orders.length])
    await figure(page, 'Share approved').getByText('47%').waitFor()
    await page
      .getByText(/^7 orders are waiting for you\. The oldest has been waiting for 400 days\.$/)
      .waitFor()
  })

  it('warns of pending orders that could get stuck', async (t) => {
    const { person, service } = await browser.alone(t, { clockRuns: true })
    await putPolicy(service, [policyRow({ role: await addRole(service, 'Finance', ['Orders.Approve']) })])
    await createdId(await service.bearer('operator'))
    const page = await visit(person, 'admin', '/')
    await page.getByText('1 order: No enabled account with the role Finance may approve orders.').waitFor()
    await page.getByText('Nothing is waiting for you. 1 order is waiting for others.').waitFor()
    await checkAccessibility(page)
  })

  it('lists the oldest waiting orders, and links to each and to all', async () => {
    const page = await atTheOverview(person)
    const oldest = page.getByRole('region', { name: 'Waiting for you' })
    const { orders } = await storedState(service)
    const expected = orders
      .filter(({ status }) => status === 0)
      .sort((a, b) => a.created_at - b.created_at)
      .slice(0, 5)
    assert.deepEqual(
      await oldest.getByRole('listitem').getByRole('link').allTextContents(),
      expected.map(({ customer }) => customer),
    )
    assert.deepEqual(
      await oldest.getByRole('listitem').getByRole('code').allTextContents(),
      expected.map(({ number }) => `#${number}`),
    )
    assert.equal(await oldest.getByText('waiting for others').count(), 0)
    await oldest.getByRole('link', { name: 'All 7 orders waiting for you' }).click()
    await waitForAddress(person, '/orders?filter=waits%3Ame&orderBy=createdAtUtc')
    await page.goBack()
    await oldest.getByRole('link', { name: String(expected[0]?.customer) }).click()
    await waitForFocus(heading(page, String(expected[0]?.customer)))
  })

  it('lists what waits for anybody to people who cannot decide, and offers them no other policy', async (t) => {
    const person = await browser.person(t, { service })
    const page = await visit(person, 'viewer', '/')
    const oldest = page.getByRole('region', { name: 'Longest waiting' })
    await oldest.getByRole('listitem').first().waitFor()
    assert.equal(await oldest.getByRole('listitem').count(), 5)
    assert.equal(await button(page, /^Require a second person/).count(), 0)
    await oldest.getByRole('link', { name: 'All 7 orders waiting for approval' }).click()
    await waitForAddress(person, '/orders?filter=status%3DPending&orderBy=createdAtUtc')
  })

  it('requires a second person in one press, after a recent sign-in, and then says so no more', async (t) => {
    const { person, service } = await browser.alone(t, { clockRuns: true })
    await createdId(await service.bearer('operator'))
    const page = await visit(person, 'admin', '/')
    const offer = button(page, 'Require a second person from 1,000.00')
    await offer.waitFor()
    await checkAccessibility(page)
    service.advance(6 * 60_000)
    person.expectFault(/403/)
    await offer.click()
    await page
      .getByRole('dialog', { name: 'Confirm it’s you' })
      .getByLabel('Password')
      .fill('countersign-demo-admin')
    await page.keyboard.press('Enter')
    await page.getByText('Approval policy saved').first().waitFor()
    await waitForFocus(heading(page, /admin/))
    await offer.waitFor({ state: 'detached' })
    const { body } = await (await service.bearer('admin')).get('/v1/approval-policy')
    const second = { from: 1_000, approvals: 2, selfApproval: false, services: false }
    assert.deepEqual(body.rows, [policyRow(), policyRow(second)])
  })

  for (const timezone of ['Pacific/Pago_Pago', 'Pacific/Kiritimati']) {
    it(`counts and names the days of the reader, and links each age to exactly its orders, in ${timezone}`, async (t) => {
      const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone })
      const dayOf = (instant: number) => Date.parse(format.format(instant))
      const here = dayOf(Date.now())
      const person = await browser.person(t, { service, timezone })
      const page = await atTheOverview(person, '/?days=7')
      const chart = page.getByRole('figure', { name: 'Orders per day' })
      await chart.getByText(`${shortDayName(here - 6 * day)} – ${shortDayName(here)}`).waitFor()
      const weekdays = Array.from({ length: 6 }, (_, index) => weekdayName(here - (6 - index) * day))
      assert.deepEqual(await chart.locator('.plot-weekday').allTextContents(), weekdays)
      const weekends = [0, 1, 2, 3, 4, 5, 6].filter((ago) =>
        [0, 6].includes(new Date(here - ago * day).getUTCDay()),
      )
      assert.equal(await chart.locator('.plot').first().locator('.plot-weekend').count(), weekends.length)
      await page.getByRole('slider', { name: 'Day' }).focus()
      await chart.getByText(longDayName(here), { exact: true }).waitFor()
      await page.getByText('Show numbers').click()
      await page.getByRole('rowheader', { name: dayName(here), exact: true }).waitFor()
      const { orders } = await storedState(service)
      const waiting = orders.filter(({ status }) => status === 0)
      const ages = [
        ['Today', 0, 0],
        ['1–2 days', 1, 2],
        ['3–7 days', 3, 7],
        ['8–30 days', 8, 30],
        ['Over 30 days', 31, Number.POSITIVE_INFINITY],
      ] as const
      const backlog = page.getByRole('region', { name: 'Waiting by age' })
      for (const [name, least, most] of ages) {
        const these = waiting
          .filter(({ created_at }) => {
            const age = (here - dayOf(created_at)) / day
            return age >= least && age <= most
          })
          .sort((one, other) => one.created_at - other.created_at)
        const row = backlog.getByRole('listitem').filter({ hasText: name })
        assert.match((await row.textContent()) ?? '', new RegExp(`^${name}${these.length} orders?$`))
        const link = row.getByRole('link')
        assert.equal(await link.count(), Math.min(these.length, 1))
        for (const there of await link.all()) {
          await there.click()
          await showsCustomers(
            page,
            these.map(({ customer }) => customer),
          )
          await page.goBack()
        }
      }
    })
  }

  it('keeps the span in the address without adding to the history', async () => {
    const page = await visit(person, 'admin', '/problems')
    await page.getByRole('link', { name: 'Countersign' }).click()
    await figure(page, 'Last 30 days').waitFor()
    // A new view takes the focus to its heading first.
    await page.locator('h1:focus').waitFor()
    await page.getByRole('radio', { name: '30 days' }).press('ArrowRight')
    await figure(page, 'Last 90 days').waitFor()
    await waitForAddress(person, '/?days=90')
    assert.deepEqual(await valuesOf(page, 'Last 90 days'), [16])
    await page.reload()
    assert.deepEqual(await valuesOf(page, 'Last 90 days'), [16])
    assert.equal(await page.getByRole('radio', { name: '90 days' }).isChecked(), true)
    await page.getByRole('radio', { name: '7 days' }).click()
    await waitForAddress(person, '/?days=7')
    assert.deepEqual(await valuesOf(page, 'Last 7 days'), [9])
    await page.getByRole('radio', { name: '30 days' }).click()
    await waitForAddress(person, '/')
    await page.goBack()
    await heading(page, 'Problems').waitFor()
  })

  it('can show a week', async (t) => {
    const page = await atTheOverview(person, '/?days=7')
    const chart = page.getByRole('figure', { name: 'Orders per day' })

    await t.test(
      'draws each day to scale, and shows the numbers of the day nearest to the pointer',
      async () => {
        const heightsOf = (plot: number) =>
          page.evaluate<
            number[][]
          >(`[...document.querySelectorAll('.plot')[${plot}].querySelectorAll('.plot-day')]
          .map((day) => [...day.querySelectorAll('.bar')].map(({ style }) => Math.round(parseFloat(style.height))))`)
        assert.deepEqual(await heightsOf(0), [[33, 33], [], [], [33], [], [100], [67, 33]])
        // The fourth day is worth so much that the others would be flat, so its bar is cut off and says so.
        assert.deepEqual(await heightsOf(1), [[3, 3], [], [], [100], [], [12], [6, 50]])
        assert.equal(await chart.locator('.plot-day:nth-of-type(5) .plot-cut').count(), 1)
        assert.equal(await chart.locator('.plot-cut').count(), 1)
        await chart.getByText('Broken bars are higher than shown').waitFor()
        await chart.locator('.stage').scrollIntoViewIfNeeded()
        const box = await chart.locator('.stage').boundingBox()
        assert.ok(box)
        for (const [x, expected] of [
          [box.x + 2, today - 6 * day],
          [box.x + box.width - 1, today],
        ] as const) {
          await page.mouse.move(x, box.y + 60)
          await chart.getByText(longDayName(expected), { exact: true }).waitFor()
        }
        await page.mouse.move(0, 0)
        await chart.getByText(`${shortDayName(today - 6 * day)} – ${shortDayName(today)}`).waitFor()
      },
    )

    await t.test('has each day read out as the keyboard moves to it', async () => {
      const slider = page.getByRole('slider', { name: 'Day' })
      const said = (words: string) => page.locator(`[aria-valuetext="${words}"]`).waitFor()
      await slider.focus()
      await said(`${longDayName(today)}: 2 pending, 1 approved, value 112.5001`)
      await chart.getByText(longDayName(today), { exact: true }).waitFor()
      await page.keyboard.press('ArrowLeft')
      await said(`${longDayName(today - day)}: 3 approved, value 24.25`)
      await chart.getByText('24.25').waitFor()
      await page.keyboard.press('ArrowLeft')
      await said(`${longDayName(today - 2 * day)}: no orders`)
      await page.keyboard.press('Home')
      await said(`${longDayName(today - 6 * day)}: 1 pending, 1 approved, value 12.00`)
      await page.keyboard.press('ArrowLeft')
      await said(`${longDayName(today - 6 * day)}: 1 pending, 1 approved, value 12.00`)
      await page.keyboard.press('End')
      await said(`${longDayName(today)}: 2 pending, 1 approved, value 112.5001`)
      await page.keyboard.press('Tab')
      await chart.getByText(longDayName(today), { exact: true }).waitFor({ state: 'detached' })
    })

    await t.test('shows the numbers of every day in a table', async () => {
      await page.getByText('Show numbers').click()
      const table = page.getByRole('table', { name: 'Orders by day of creation and status' })
      await table.waitFor()
      const rows = await table.getByRole('row').allTextContents()
      const { orders } = await storedState(service)
      const ofLastDays = Array.from({ length: 7 }, (_, ago) => {
        const start = today - ago * day
        const ofDay = orders.filter(({ created_at }) => created_at >= start && created_at < start + day)
        return rowOf(dayName(start), ofDay)
      })
      const recent = orders.filter(({ created_at }) => created_at >= today - 6 * day)
      assert.deepEqual(rows, [
        'DayPendingApprovedRejectedWithdrawnOrdersValue',
        ...ofLastDays,
        rowOf('These 7 days', recent),
        rowOf('All orders', orders),
      ])
      await checkAccessibility(page)
    })

    await t.test('distinguishes states by the shape of sign and bar if there are no colours', async () => {
      await page.getByRole('radio', { name: '30 days' }).click()
      await figure(page, 'Last 30 days').waitFor()
      await page.emulateMedia({ forcedColors: 'active' })
      for (const shown of [`'.key-figure .sign', '::before'`, `'.plot .bar', null`]) {
        const forms = await page.evaluate<string[]>(
          `(${looksOf})(${shown}, ['backgroundImage', 'backgroundColor', 'borderStyle'])`,
        )
        assert.equal(new Set(forms).size, 4, `${shown}:\n${[...new Set(forms)].join('\n')}`)
      }
      await page.emulateMedia({ forcedColors: 'none', media: 'print' })
      for (const shown of [`'.key-figure .sign', '::before'`, `'.plot .bar', null`]) {
        const adjusted = await page.evaluate<string[]>(`(${looksOf})(${shown}, ['printColorAdjust'])`)
        assert.deepEqual([...new Set(adjusted)], ['exact'], 'else they would be left out to save ink')
      }
    })
  })
})

/**
 * An order for each total. Pending ones are from the first milliseconds of the day, the others from its
 * last (except today).
 */
function ordersOf(
  daysAgo: number,
  totals: { pending: number[]; approved: number[]; rejected?: number[]; withdrawn?: number[] },
): OrderRow[] {
  const start = today - daysAgo * day
  const late = daysAgo === 0 ? start : start + day - 10
  const rowsOf = (values: number[], status: number, from: number) =>
    values.map((total, index) =>
      orderRow({
        customer: `Customer ${daysAgo}-${status}-${index}`,
        created_at: from + index,
        total_e4: Math.round(total * 10_000),
        status,
      }),
    )
  const { pending, approved, rejected = [], withdrawn = [] } = totals
  return [
    ...rowsOf(pending, 0, start),
    ...[approved, rejected, withdrawn].flatMap((values, index) => rowsOf(values, index + 1, late)),
  ]
}

function sumOf(orders: readonly OrderRow[] = []): number {
  return orders.reduce((sum, { total_e4 }) => sum + Number(total_e4), 0) / 10_000
}

/** Runs in the page. Returns what these elements look like, by these properties. */
const looksOf = `(selector, part, properties) => [...document.querySelectorAll(selector)].map((one) =>
  properties.map((property) => getComputedStyle(one, part)[property]).join(' '))`

/** One of the figures at the top. */
function figure(page: Page, label: string) {
  const term = page.getByRole('term').filter({ hasText: new RegExp(`^${label}$`) })
  return page.locator('.key-figure').filter({ has: term })
}

/** The exact numbers behind abbreviated ones. */
async function valuesOf(page: Page, label: string): Promise<number[]> {
  await figure(page, label).locator('data').first().waitFor()
  const values = await figure(page, label).locator('data').all()
  return Promise.all(values.map(async (data) => Number(await data.getAttribute('value'))))
}

function rowOf(name: string, orders: readonly OrderRow[]): string {
  const counts = [0, 1, 2, 3].map((state) => orders.filter(({ status }) => status === state).length)
  const format = { minimumFractionDigits: 2, maximumFractionDigits: 4 }
  const value = sumOf(orders).toLocaleString('en-US', format)
  return [name, ...counts, orders.length, value].join('')
}

function dayName(start: number): string {
  const parts = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const
  return new Date(start).toLocaleDateString('en-US', { timeZone: 'UTC', ...parts })
}

function shortDayName(start: number): string {
  return new Date(start).toLocaleDateString('en-US', { timeZone: 'UTC', day: 'numeric', month: 'short' })
}

function weekdayName(start: number): string {
  return new Date(start).toLocaleDateString('en-US', { timeZone: 'UTC', weekday: 'short' })
}

function longDayName(start: number): string {
  return new Date(start).toLocaleDateString('en-US', { timeZone: 'UTC', dateStyle: 'full' })
}

describe('the overview without orders', () => {
  const person = browser.stayingPerson({ service: empty })

  it('says so, and links to creating the first one', async () => {
    const page = await visit(person, 'operator', '/')
    await page.getByRole('heading', { name: 'No orders yet' }).waitFor()
    assert.equal(await page.getByRole('figure').count(), 0)
    await page.getByRole('main').getByRole('link', { name: 'New order' }).click()
    await waitForAddress(person, '/orders/new')
  })

  it('offers nothing to someone who may only look', async () => {
    const page = await visit(person, 'viewer', '/')
    await page.getByRole('heading', { name: 'No orders yet' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'New order' }).count(), 0)
  })

  it('neither shows nor requests orders for someone who may not read them', async () => {
    const role = await addRole(empty, 'Creator', ['Orders.Create'])
    const user = await newUser(empty, { roles: [role] })
    const page = await visit(person, 'viewer', '/')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signInHeading(page).waitFor()
    const requests = listRequests(page)
    await signInByForm(page, user.credentials, nameCard(page, user.userName))
    await page.getByRole('heading', { name: 'You cannot view orders' }).waitFor()
    await page.getByRole('main').getByRole('link', { name: 'New order' }).waitFor()
    await page.waitForLoadState('networkidle')
    await page.goto('/orders/review')
    await page.getByRole('heading', { name: 'You cannot view orders' }).waitFor()
    assert.equal(await page.getByRole('article').getAttribute('aria-busy'), 'false')
    await page.waitForLoadState('networkidle')
    const strays = requests.filter((request) => request.includes('/v1/orders'))
    assert.deepEqual(strays, [])
    await checkAccessibility(page)
  })
})
