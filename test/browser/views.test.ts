import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { heading } from '../support/browser/journeys.ts'
import { lookAt, type Views } from '../support/browser/looks.ts'
import { openMenu, visit } from '../support/browser/orders.ts'
import { openBrowser, signIn } from '../support/browser/person.ts'
import { createdId, insertOrders, orderRow } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const minute = 60_000

const service = await startService({ clockRuns: true, until: { after } })

const rows = (page: Page) => page.getByRole('row').filter({ has: page.getByRole('link') })

const anonymousViews: Views = {
  async 'sign-in-refused'({ page, expectFault }) {
    await page.goto('/')
    await heading(page, 'Sign in to Countersign').waitFor()
    expectFault(/ 401 .*\/v1\/auth\/session\b/)
    await page.getByLabel('Email').fill(`${randomUUID()}@example.com`)
    await page.getByLabel('Password').fill('not the right password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Wrong email or password.').waitFor()
  },
  async problems({ page }) {
    await page.goto('/problems')
    await page.getByRole('link', { name: 'order-not-pending' }).waitFor()
  },
  async problem({ page }) {
    await page.getByRole('link', { name: 'order-not-pending' }).click()
    await page.getByRole('heading', { name: 'What to do' }).waitFor()
  },
  async auditing({ page }) {
    await page.goto('/auditing')
    await heading(page, 'Checking the log').waitFor()
  },
  async 'unknown-page'({ page }) {
    await page.goto('/no/such/page')
    await heading(page, 'Page not found').waitFor()
  },
}

const adminViews: Views = {
  async 'overview-empty'(person) {
    const page = await visit(person, 'admin', '/')
    await page.getByRole('heading', { name: 'No orders yet' }).waitFor()
  },
  async 'keyboard-dialog'({ page }) {
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  },
  async 'orders-empty'(person) {
    await person.page.keyboard.press('Escape')
    const page = await visit(person, 'admin', '/orders')
    await page.getByRole('heading', { name: 'No orders yet' }).waitFor()
  },
  async overview({ page }) {
    await insertOrders(service, thirty())
    await page.goto('/no/such/page')
    await heading(page, 'Page not found').waitFor()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { name: 'Orders per day' }).waitFor()
    await page.getByRole('link', { name: 'Review oldest' }).waitFor()
  },
  async 'orders-selected'(person) {
    const page = await visit(person, 'admin', '/orders?orderBy=createdAtUtc&order=Desc')
    await rows(page).nth(24).waitFor()
    const boxes = page.getByRole('checkbox', { name: /^Select (?!all)/ })
    for (const index of [0, 2, 3]) await boxes.nth(index).click()
    await page.getByText('3 selected').waitFor()
  },
  async 'approve-several'({ page }) {
    await page.getByRole('button', { name: 'Approve …' }).click()
    await page.getByRole('alertdialog', { name: 'Approve 3 orders?' }).waitFor()
  },
  async 'orders-filter'(person) {
    await person.page.keyboard.press('Escape')
    const filter = 'filter=status%3DPending+createdAtUtc%3E%3D2026-01-01+waits%3Ame'
    const page = await visit(person, 'admin', `/orders?${filter}`)
    await page.getByRole('list', { name: 'Filters' }).waitFor()
    await openMenu(page, 'Filter')
  },
  async 'orders-none-found'(person) {
    await person.page.keyboard.press('Escape')
    const page = await visit(person, 'admin', '/orders?filter=nobodyhasthisname+status%3DPending')
    await page.getByRole('heading', { name: 'No orders match' }).waitFor()
  },
  async 'orders-faulty-search'(person) {
    person.expectFault(/ 400 .*\/v1\/orders\b/)
    const page = await visit(person, 'admin', '/orders')
    await rows(page).first().waitFor()
    await page.getByRole('combobox', { name: 'Search the orders' }).fill('total>ten status=Pending')
    await page.getByRole('combobox', { name: 'Search the orders' }).blur()
    await page.getByText(/needs a number/).waitFor()
  },
  async 'failure-note-over-long-names'(person) {
    const { network, expectFault } = person
    const mark = randomUUID()
    const operator = await service.bearer('operator')
    const long = `Lebensmittelgroßhandelsgesellschaft${'mitbeschränkterhaftung'.repeat(5)} ${mark}`
    await createdId(operator, { customer: long })
    await createdId(operator, { customer: `شركة التوريدات العامة ${mark}`, total: 99_999_999_999.9999 })
    const page = await visit(person, 'admin', `/orders?filter=${mark}+status%3DPending`)
    await rows(page).nth(1).waitFor()
    expectFault(/ 503 .*\/v1\/orders\b/)
    await network({ answers: 'database-unavailable', retryAfterSeconds: 60, paths: '/v1/orders' })
    await page.getByRole('button', { name: 'Total' }).click()
    await page.getByText('The service is unavailable right now').waitFor()
    await rows(page).nth(1).waitFor()
  },
  async 'new-order-with-notice'({ page, network }) {
    await network('normal')
    await page.clock.install()
    await page.goto('/orders/new')
    await heading(page, 'New order').waitFor()
    await page.getByLabel('Total').fill('1,250.50')
    await page.getByText('Means 1,250.50').first().waitFor()
    await page.getByRole('button', { name: 'Create order' }).click()
    await page.getByText('Enter the name of the customer.').first().waitFor()
    await page.clock.fastForward(28.5 * minute)
    await page.getByText('Still there?').waitFor()
  },
}

/** Pending orders, one a day. */
const thirty = () =>
  Array.from({ length: 30 }, (_, day) => orderRow({ created_at: Date.now() - day * 1_440 * minute }))

const viewerViews: Views = {
  async 'viewer-may-not-create'({ page }) {
    await page.goto('/orders/new')
    await page.getByText('You cannot create orders').waitFor()
  },
  async crash({ page, expectFault }) {
    expectFault(/broken on purpose/)
    await page.addInitScript(`Intl.RelativeTimeFormat.prototype.format = () => {
      throw new Error('broken on purpose')
    }`)
    const { body } = await (await service.bearer('viewer')).get('/v1/orders?orderBy=createdAtUtc&pageSize=1')
    await page.goto(`/orders/${body.items[0].id}`)
    await heading(page, 'This page could not be shown').waitFor()
  },
}

describe('in both themes and widths every view is accessible, fits, and requests nothing from another origin', () => {
  const person = browser.stayingPerson({ service })

  it('without an account', (t) => lookAt(t, person, anonymousViews))

  it('for an admin', (t) => lookAt(t, person, adminViews))

  it('for a viewer', async (t) => {
    await signIn(person, 'viewer')
    await lookAt(t, person, viewerViews)
  })
})
