import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { newUser, signIn as signInElsewhere } from '../support/accounts.ts'
import { checkAccessibility, checkColours } from '../support/browser/accessibility.ts'
import { openBrowser, type Person, screenshot, signIn } from '../support/browser/person.ts'
import { policyRow, putPolicy } from '../support/policy.ts'
import { type Service, startService } from '../support/service.ts'

const browser = openBrowser()
const minute = 60_000
/** From this total on an order needs two approvals. */
const forTwo = 100_000

/** Something that a person can see. `reach` leads there, and expects what the console says on the way. */
interface View {
  name: string
  reach(person: Person): Promise<void>
}

const looks = [
  { width: 'wide', viewport: { width: 1280, height: 800 } },
  { width: 'narrow', viewport: { width: 390, height: 844 } },
]
type Look = (typeof looks)[number]

let service: Service
let emptyService: Service
before(async () => {
  service = await startService({ orders: true, clockRuns: true })
  const policy = [policyRow(), policyRow({ from: forTwo, approvals: 2, selfApproval: false })]
  await putPolicy(await service.bearer('admin'), policy)
  emptyService = await startService({ clockRuns: true })
})
after(async () => {
  await service.close()
  await emptyService.close()
})

/** A pending order of a customer of this moment. */
async function createOrder(customer: string, total: number): Promise<{ id: string; customer: string }> {
  const operator = await service.bearer('operator')
  const name = `${customer} ${randomUUID().slice(0, 8)}`
  const { status, body } = await operator.post('/v1/orders', { customer: name, total })
  assert.equal(status, 201)
  return { id: body.id, customer: name }
}

async function approve(id: string): Promise<void> {
  const admin = await service.bearer('admin')
  assert.equal((await admin.patch(`/v1/orders/${id}/approve`)).status, 204)
}

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name })
const rows = (page: Page) => page.getByRole('row').filter({ has: page.getByRole('link') })

/** That of an order that has just been made. */
async function openPendingOrder({ page }: Person, customer: string, total = 1284.5): Promise<string> {
  const order = await createOrder(customer, total)
  await page.goto(`/orders/${order.id}`)
  await page.getByRole('button', { name: 'Approve' }).waitFor()
  await page.getByText('Created by').first().waitFor()
  return order.id
}

const anonymousViews: View[] = [
  {
    name: 'sign-in',
    async reach({ page }) {
      await page.goto('/')
      await heading(page, 'Sign in to Countersign').waitFor()
    },
  },
  {
    name: 'sign-in-refused',
    async reach({ page, expectFault }) {
      expectFault(/ 401 .*\/v1\/auth\/session\b/)
      await page.getByLabel('Email').fill(`${randomUUID()}@example.com`)
      await page.getByLabel('Password').fill('not the right password')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('Wrong email or password.').waitFor()
    },
  },
  {
    name: 'problems',
    async reach({ page }) {
      await page.goto('/problems')
      await page.getByRole('link', { name: 'order-not-pending' }).waitFor()
    },
  },
  {
    name: 'problem',
    async reach({ page }) {
      await page.goto('/problems/order-not-pending')
      await page.getByRole('heading', { name: 'What to do' }).waitFor()
    },
  },
  {
    name: 'unknown-page',
    async reach({ page }) {
      await page.goto('/no/such/page')
      await heading(page, 'Page not found').waitFor()
    },
  },
]

const adminViews: View[] = [
  {
    name: 'overview',
    async reach({ page }) {
      await page.goto('/')
      await page.getByText('Share approved').waitFor()
      await page.getByRole('link', { name: 'Review the oldest' }).waitFor()
    },
  },
  {
    name: 'keyboard-dialog',
    async reach({ page }) {
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    },
  },
  {
    name: 'orders',
    async reach({ page }) {
      await page.goto('/orders')
      await rows(page).nth(24).waitFor()
    },
  },
  {
    name: 'orders-selected',
    async reach({ page }) {
      await page.goto('/orders?filter=status%3DPending')
      const boxes = page.getByRole('checkbox', { name: /^Select (?!all)/ })
      for (const index of [0, 2, 3]) await boxes.nth(index).click()
      await page.getByText('3 selected').waitFor()
    },
  },
  {
    name: 'approve-several',
    async reach({ page }) {
      await page.getByRole('button', { name: 'Approve …' }).click()
      await page.getByRole('alertdialog', { name: 'Approve 3 orders?' }).waitFor()
    },
  },
  {
    name: 'orders-filtered',
    async reach({ page }) {
      await page.goto('/orders?filter=status%3DApproved+total%3E%3D1000&orderBy=total&order=Desc')
      await page.getByText(/ orders match$/).waitFor()
    },
  },
  {
    name: 'orders-none-found',
    async reach({ page }) {
      await page.goto('/orders?filter=nobodyhasthisname+status%3DPending')
      await page.getByRole('heading', { name: 'No orders match' }).waitFor()
    },
  },
  {
    name: 'orders-faulty-search',
    async reach({ page, expectFault }) {
      expectFault(/ 400 .*\/v1\/orders\b/)
      await page.goto('/orders')
      await rows(page).first().waitFor()
      await page.getByRole('combobox', { name: 'Search the orders' }).fill('total>ten status=Pending')
      await page.getByRole('combobox', { name: 'Search the orders' }).blur()
      await page.getByText(/is compared with a decimal number/).waitFor()
    },
  },
  {
    name: 'orders-long-names',
    async reach({ page }) {
      const mark = randomUUID()
      await createOrder(`Lebensmittelgroßhandelsgesellschaft${'mitbeschränkterhaftung'.repeat(5)} ${mark}`, 1)
      await createOrder(`شركة التوريدات العامة ${mark}`, 99_999_999_999.9999)
      await page.goto(`/orders?filter=${mark}`)
      await rows(page).nth(1).waitFor()
    },
  },
  {
    name: 'order-pending',
    async reach(person) {
      await openPendingOrder(person, 'Northwind Trading')
    },
  },
  {
    name: 'approve-one',
    async reach({ page }) {
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.getByRole('alertdialog', { name: 'Approve this order?' }).waitFor()
    },
  },
  {
    name: 'approve-conflict',
    async reach(person) {
      const { page, expectFault } = person
      expectFault(/ 412 .*\/approve\b/)
      const id = await openPendingOrder(person, 'Harbour Light')
      await page.getByRole('button', { name: 'Approve' }).click()
      await approve(id)
      await page.getByRole('alertdialog').getByRole('button', { name: 'Approve', exact: true }).click()
      await page.getByRole('alertdialog', { name: 'This order is already approved' }).waitFor()
    },
  },
  {
    name: 'reject-one',
    async reach(person) {
      const { page } = person
      await openPendingOrder(person, 'Kestrel Freight')
      await page.getByRole('button', { name: 'Reject …' }).click()
      await page.getByRole('alertdialog', { name: 'Reject this order?' }).waitFor()
      await page.getByRole('button', { name: 'Reject', exact: true }).click()
      await page.getByText('Write why.').first().waitFor()
    },
  },
  {
    name: 'order-rejected',
    async reach({ page }) {
      await page
        .getByLabel('Reason')
        .fill('The total differs from the offer:\n1,284.50 is what they were told.')
      await page.getByRole('button', { name: 'Reject', exact: true }).click()
      await page.getByText(/^Rejected by/).waitFor()
      await page.getByText('they were told').waitFor()
    },
  },
  {
    name: 'order-one-of-two',
    async reach({ page }) {
      const order = await createOrder('Alder & Finch', 125_000)
      await approve(order.id)
      await page.goto(`/orders/${order.id}`)
      await page.getByText('Needs one more, not you: you have approved it already.').waitFor()
      await page.getByText(/^Approval given by/).waitFor()
    },
  },
  {
    name: 'approve-other-approval',
    async reach(person) {
      const { page, expectFault } = person
      expectFault(/ 412 .*\/approve\b/)
      const id = await openPendingOrder(person, 'Quayside Tea', forTwo)
      await page.getByRole('button', { name: 'Approve' }).click()
      const user = await newUser(service, { roles: ['Admin'] })
      await (await signInElsewhere(service, user)).patch(`/v1/orders/${id}/approve`)
      await page.getByRole('alertdialog').getByRole('button', { name: 'Approve', exact: true }).click()
      await page.getByRole('alertdialog', { name: 'This order has another approval' }).waitFor()
    },
  },
  {
    name: 'order-with-a-long-life',
    async reach({ page }) {
      const order = await createOrder('Winterfeld & Söhne', 148_250)
      const operator = await service.bearer('operator')
      const notes = ['Called the customer.\n\nThey confirm the total.', 'اتصلت بالعميل', 'x'.repeat(400)]
      for (const text of notes) await operator.post(`/v1/orders/${order.id}/notes`, { text })
      const user = await newUser(service, { roles: ['Admin'] })
      await (await signInElsewhere(service, user)).patch(`/v1/orders/${order.id}/approve`)
      await approve(order.id)
      await service.db.write('sealEvents', { limit: 1_000 })
      await page.goto(`/orders/${order.id}`)
      await page.getByText('2 of 2').waitFor()
      await page.getByText(/^Approved by admin/).waitFor()
      await page.getByRole('button', { name: 'Add a note' }).click()
      await page.getByRole('textbox', { name: 'Note' }).fill('One more thing')
    },
  },
  {
    name: 'receipt',
    async reach({ page }) {
      await page.getByRole('link', { name: 'Receipt' }).click()
      await page.getByRole('article', { name: 'Receipt' }).waitFor()
    },
  },
  {
    name: 'receipt-not-approved',
    async reach({ page, expectFault }) {
      expectFault(/ 409 .*\/receipt\b/)
      const { id } = await createOrder('Harbour Light', 12)
      await page.goto(`/orders/${id}/receipt`)
      await heading(page, 'There is no receipt').waitFor()
    },
  },
  {
    name: 'order-approved',
    async reach({ page }) {
      const order = await createOrder('Winterfeld & Söhne', 48_250)
      await approve(order.id)
      await page.goto(`/orders/${order.id}`)
      await page.getByText(/^Approved by/).waitFor()
    },
  },
  {
    name: 'order-not-found',
    async reach({ page, expectFault }) {
      expectFault(/ 404 .*\/v1\/orders\//)
      await page.goto(`/orders/${randomUUID()}`)
      await heading(page, 'Order not found').waitFor()
    },
  },
  {
    name: 'new-order',
    async reach({ page }) {
      await page.goto('/orders/new')
      await page.getByLabel('Customer').fill('Alder & Finch')
      await page.getByLabel('Total').fill('1,250.50')
      await page.getByText('Means 1,250.50').first().waitFor()
    },
  },
  {
    name: 'new-order-faults',
    async reach({ page }) {
      await page.getByLabel('Customer').fill('')
      await page.getByLabel('Total').fill('twelve')
      await page.getByRole('button', { name: 'Create order' }).click()
      await page.getByText('Enter the name of the customer.').first().waitFor()
    },
  },
  {
    name: 'failure-note',
    async reach({ page, network, expectFault }) {
      await page.goto('/orders?filter=status%3DPending')
      await rows(page).first().waitFor()
      expectFault(/ 503 .*\/v1\/orders\b/)
      await network({ answers: 'database-unavailable', retryAfterSeconds: 60, paths: '/v1/orders' })
      await page.getByRole('button', { name: 'Next page' }).click()
      await page.getByText('The service is unavailable right now').waitFor()
    },
  },
  {
    name: 'session-notice',
    async reach({ page, network }) {
      await network('normal')
      await page.clock.install()
      await page.goto('/orders/new')
      await heading(page, 'New order').waitFor()
      await page.clock.fastForward(28.5 * minute)
      await page.getByText('Still there?').waitFor()
    },
  },
]

const emptyViews: View[] = [
  {
    name: 'overview-empty',
    async reach({ page }) {
      await page.goto('/')
      await page.getByRole('heading', { name: 'No orders yet' }).waitFor()
    },
  },
  {
    name: 'orders-empty',
    async reach({ page }) {
      await page.goto('/orders')
      await page.getByRole('heading', { name: 'No orders yet' }).waitFor()
    },
  },
]

const viewerViews: View[] = [
  {
    name: 'viewer-orders',
    async reach({ page }) {
      await page.goto('/orders')
      await rows(page).nth(24).waitFor()
    },
  },
  {
    name: 'viewer-may-not-create',
    async reach({ page }) {
      await page.goto('/orders/new')
      await heading(page, 'You cannot create orders').waitFor()
    },
  },
  {
    name: 'crash',
    async reach({ page, expectFault }) {
      expectFault(/broken on purpose/)
      const body = `export function OrderView() { throw new Error('broken on purpose') }`
      const part = /\/assets\/order-[\w-]{8}\.js$/
      await page.route(part, (route) => route.fulfill({ contentType: 'text/javascript', body }))
      await page.goto(`/orders/${randomUUID()}`)
      await heading(page, 'This page could not be shown').waitFor()
    },
  },
]

/** How far the page, or a dialog in it, can be moved to the side: something is too wide for it then. */
const sidewaysScroll = `Math.max(...[document.documentElement, ...document.querySelectorAll('.dialog')]
  .map((element) => element.scrollWidth - element.clientWidth))`

/** One person goes through the views, and each is a result of its own. The theme changes only colours. */
async function lookAt(
  t: TestContext,
  person: Person,
  { width }: Look,
  views: readonly View[],
): Promise<void> {
  const { page, assertClean } = person
  for (const { name, reach } of views) {
    await t.test(name, { timeout: 30_000 }, async () => {
      await reach(person)
      await page.evaluate('document.fonts.ready')
      await screenshot(page, `${name}-light-${width}`)
      assert.equal(await page.evaluate(sidewaysScroll), 0, 'it scrolls sideways')
      await checkAccessibility(page)
      await page.emulateMedia({ colorScheme: 'dark' })
      await screenshot(page, `${name}-dark-${width}`)
      await checkColours(page)
      await page.emulateMedia({ colorScheme: 'light' })
      await assertClean()
    })
  }
}

// Two looks at a time; within a look one person goes from view to view.
describe('in both themes and widths', { concurrency: 2 }, () => {
  for (const look of looks) {
    const { viewport } = look
    describe(`${look.width}, every view is accessible, fits, and keeps to itself`, { concurrency: 1 }, () => {
      it('without an account', async (t) => {
        await lookAt(t, await browser.person(t, { service, viewport }), look, anonymousViews)
      })

      it('for an admin', async (t) => {
        const person = await browser.person(t, { service, viewport })
        await signIn(person, 'admin')
        await lookAt(t, person, look, adminViews)
      })

      it('for an admin without orders', async (t) => {
        const person = await browser.person(t, { service: emptyService, viewport })
        await signIn(person, 'admin')
        await lookAt(t, person, look, emptyViews)
      })

      it('for a viewer', async (t) => {
        const person = await browser.person(t, { service, viewport })
        await signIn(person, 'viewer')
        await lookAt(t, person, look, viewerViews)
      })
    })
  }
})
