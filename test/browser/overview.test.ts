import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
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
import { followLink, visit } from '../support/browser/orders.ts'
import { openBrowser } from '../support/browser/person.ts'
import { button } from '../support/browser/question.ts'
import {
  createdId,
  insertOrders,
  type OrderRow,
  orderRow,
  replaceOrders,
  storedState,
} from '../support/orders.ts'
import { policyRow, putPolicy } from '../support/policy.ts'
import { addRole } from '../support/roles.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const day = 86_400_000

/** Midnight UTC today, from which all days here are counted. */
const today = Math.floor(Date.now() / day) * day

const service = await startService({ clockRuns: true, until: { after } })
const small = await startService({ clockRuns: true, until: { after } })
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

  it('says how many orders were created on each day', async () => {
    const page = await visit(person, 'admin', '/')
    const chart = page.getByRole('region', { name: 'Orders per day' })
    const most = `The most before today were 5, on ${longDayName(today - 20 * day)}.`
    await chart.getByText(`14 orders in the last 30 days, 3 of them today. ${most}`).waitFor()
    const ofDays = await chart
      .locator('.day')
      .evaluateAll((bars: { title: string }[]) => bars.map(({ title }) => title))
    const counts = new Map([
      [0, 3],
      [1, 3],
      [3, 1],
      [6, 2],
      [20, 5],
    ])
    const expected = Array.from({ length: 30 }, (_, index) => {
      const count = counts.get(29 - index) ?? 0
      return `${longDayName(today - (29 - index) * day)}: ${count} ${count === 1 ? 'order' : 'orders'}`
    })
    assert.deepEqual(ofDays, expected)
    const heights = `[...document.querySelectorAll('.day i')].map(({ style }) => style.height)`
    assert.deepEqual(await page.evaluate(heights), ['100%', '40%', '20%', '60%', '60%'])
  })

  it('lists the oldest orders that wait for the person, and links to each and to all', async () => {
    const { page } = person
    const oldest = page.getByRole('region', { name: 'Waiting for you' })
    await oldest.getByRole('listitem').first().waitFor()
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
    await oldest.getByRole('link', { name: 'All 7 orders' }).click()
    await waitForAddress(person, '/orders?filter=waits%3Ame&orderBy=createdAtUtc')
    await page.goBack()
    await oldest.getByRole('link', { name: String(expected[0]?.customer) }).click()
    await waitForFocus(heading(page, String(expected[0]?.customer)))
  })

  it('begins a review of what waits for the person, oldest first', async () => {
    const page = await visit(person, 'admin', '/')
    await page.getByRole('link', { name: 'Review oldest' }).click()
    await waitForAddress(person, '/orders/review?filter=waits%3Ame&orderBy=createdAtUtc')
    await page.getByText(/^1 of \d+$/).waitFor()
  })

  it('lists what waits for anybody to people who cannot decide, and offers them no other policy', async () => {
    const page = await visit(person, 'viewer', '/')
    const oldest = page.getByRole('region', { name: 'Longest waiting' })
    await oldest.getByRole('listitem').first().waitFor()
    assert.equal(await oldest.getByRole('listitem').count(), 5)
    for (const name of ['Waiting for you', 'Your orders'])
      assert.equal(await page.getByRole('region', { name }).count(), 0)
    assert.equal(await button(page, /^Require a second person/).count(), 0)
    await oldest.getByRole('link', { name: 'All 7 orders' }).click()
    await waitForAddress(person, '/orders?filter=status%3DPending&orderBy=createdAtUtc')
  })

  for (const timezone of ['Pacific/Pago_Pago', 'Pacific/Kiritimati']) {
    it(`counts and names the days of the reader in ${timezone}`, async (t) => {
      const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone })
      const here = Date.parse(format.format(Date.now()))
      const page = await visit(await browser.person(t, { service, timezone }), 'admin', '/')
      const chart = page.getByRole('region', { name: 'Orders per day' })
      const { orders } = await storedState(service)
      const ofToday = orders.filter(({ created_at }) => Date.parse(format.format(created_at)) === here)
      const count = `${ofToday.length} ${ofToday.length === 1 ? 'order' : 'orders'}`
      await chart.getByTitle(`${longDayName(here)}: ${count}`).waitFor()
    })
  }
})

describe('the overview without orders', () => {
  const person = browser.stayingPerson({ service: small })

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
    const role = await addRole(small, 'Creator', ['Orders.Create'])
    const user = await newUser(small, { roles: [role] })
    const { page } = person
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signInHeading(page).waitFor()
    const requests = listRequests(page)
    await signInByForm(page, user.credentials, nameCard(page, user.userName))
    await page.getByText('You cannot view orders').waitFor()
    await page.getByRole('main').getByRole('link', { name: 'New order' }).waitFor()
    await page.waitForLoadState('networkidle')
    await followLink(page, '/orders/review')
    await page.getByText('You cannot view orders').waitFor()
    assert.equal(await page.getByRole('article').getAttribute('aria-busy'), 'false')
    await page.waitForLoadState('networkidle')
    const strays = requests.filter((request) => request.includes('/v1/orders'))
    assert.deepEqual(strays, [])
  })
})

describe('the overview of a small company', () => {
  const person = browser.stayingPerson({ service: small })

  it('lists the person’s own orders with their status, latest first', async () => {
    const [admin, operator] = [await small.bearer('admin'), await small.bearer('operator')]
    const ids = [
      await createdId(operator, { customer: 'First' }),
      await createdId(operator, { customer: 'Second' }),
    ]
    await createdId(admin)
    assert.equal((await admin.patch(`/v1/orders/${ids[0]}/approve`)).status, 204)
    const page = await visit(person, 'operator', '/')
    const own = page.getByRole('region', { name: 'Your orders' })
    await own.getByRole('listitem').first().waitFor()
    const [second, first] = await own.getByRole('listitem').allTextContents()
    assert.match(String(second), /^Second.*Pending$/)
    assert.match(String(first), /^First.*Approved$/)
    assert.equal(await own.getByRole('listitem').count(), 2)
    await checkAccessibility(page)
  })

  it('requires a second person in one press, after a recent sign-in, and then says so no more', async () => {
    const page = await visit(person, 'admin', '/')
    const offer = button(page, 'Require a second person from 1,000.00')
    await offer.waitFor()
    small.advance(6 * 60_000)
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
    const { body } = await (await small.bearer('admin')).get('/v1/approval-policy')
    const second = { from: 1_000, approvals: 2, selfApproval: false, services: false }
    assert.deepEqual(body.rows, [policyRow(), policyRow(second)])
  })

  it('lists what nobody could approve, and what others have left waiting for over a week', async () => {
    await putPolicy(small, [policyRow({ role: await addRole(small, 'Finance', ['Orders.Approve']) })])
    await replaceOrders(small, [])
    await createdId(await small.bearer('operator'), { customer: 'Today' })
    const ages = { Eight: 8, Nine: 9, Seven: 7, Six: 6 }
    await insertOrders(
      small,
      Object.entries(ages).map(([customer, age]) =>
        orderRow({ customer, created_at: today - age * day, role_needed: 'Finance' }),
      ),
    )
    const { page } = person
    await page.goto('/')
    const stuck = page.getByRole('region', { name: 'Waiting for others for over a week' })
    await stuck.getByRole('listitem').first().waitFor()
    assert.deepEqual(await stuck.getByRole('listitem').getByRole('link').allTextContents(), ['Nine', 'Eight'])
    const stranded = page.getByRole('region', { name: 'Nobody can approve these now' })
    await stranded.getByText('Today').waitFor()
    await page.getByText('Nothing is waiting for you.').waitFor()
    await checkAccessibility(page)
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

function longDayName(start: number): string {
  return new Date(start).toLocaleDateString('en-US', { timeZone: 'UTC', dateStyle: 'full' })
}
