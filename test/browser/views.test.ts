import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { heading } from '../support/browser/journeys.ts'
import { lookAt, type Views } from '../support/browser/looks.ts'
import { openMenu } from '../support/browser/orders.ts'
import { openBrowser, sideBySide, signIn } from '../support/browser/person.ts'
import { createdId } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const minute = 60_000

const service = await startService({ orders: true, clockRuns: true })
const emptyService = await startService({ clockRuns: true })
after(async () => {
  await service.close()
  await emptyService.close()
})

const rows = (page: Page) => page.getByRole('row').filter({ has: page.getByRole('link') })

const anonymousViews: Views = {
  async 'sign-in'({ page }) {
    await page.goto('/')
    await heading(page, 'Sign in to Countersign').waitFor()
  },
  async 'sign-in-refused'({ page, expectFault }) {
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
    await page.goto('/problems/order-not-pending')
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
  async overview({ page }) {
    await page.goto('/')
    await page.getByRole('heading', { name: 'Orders per day' }).waitFor()
    await page.getByRole('link', { name: 'Review oldest' }).waitFor()
  },
  async 'unknown-page-inside'({ page }) {
    await page.goto('/no/such/page')
    await heading(page, 'Page not found').waitFor()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Overview' }).click()
    await heading(page, /admin/).waitFor()
  },
  async 'keyboard-dialog'({ page }) {
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  },
  async orders({ page }) {
    await page.goto('/orders')
    await rows(page).nth(24).waitFor()
  },
  async 'orders-selected'({ page }) {
    await page.goto('/orders?filter=status%3DPending')
    const boxes = page.getByRole('checkbox', { name: /^Select (?!all)/ })
    for (const index of [0, 2, 3]) await boxes.nth(index).click()
    await page.getByText('3 selected').waitFor()
  },
  async 'approve-several'({ page }) {
    await page.getByRole('button', { name: 'Approve …' }).click()
    await page.getByRole('alertdialog', { name: 'Approve 3 orders?' }).waitFor()
  },
  async 'orders-filtered'({ page }) {
    await page.goto('/orders?filter=status%3DApproved+total%3E%3D1000&orderBy=total&order=Desc')
    await page
      .getByText(/ orders match$/)
      .first()
      .waitFor()
  },
  async 'orders-filter'({ page }) {
    await page.goto('/orders?filter=status%3DPending+createdAtUtc%3E%3D2026-01-01+waits%3Ame')
    await page.getByRole('list', { name: 'Filters' }).waitFor()
    await openMenu(page, 'Filter')
  },
  async 'orders-none-found'({ page }) {
    await page.goto('/orders?filter=nobodyhasthisname+status%3DPending')
    await page.getByRole('heading', { name: 'No orders match' }).waitFor()
  },
  async 'orders-faulty-search'({ page, expectFault }) {
    expectFault(/ 400 .*\/v1\/orders\b/)
    await page.goto('/orders')
    await rows(page).first().waitFor()
    await page.getByRole('combobox', { name: 'Search the orders' }).fill('total>ten status=Pending')
    await page.getByRole('combobox', { name: 'Search the orders' }).blur()
    await page.getByText(/needs a number/).waitFor()
  },
  async 'orders-long-names'({ page }) {
    const mark = randomUUID()
    const operator = await service.bearer('operator')
    const long = `Lebensmittelgroßhandelsgesellschaft${'mitbeschränkterhaftung'.repeat(5)} ${mark}`
    await createdId(operator, { customer: long })
    await createdId(operator, { customer: `شركة التوريدات العامة ${mark}`, total: 99_999_999_999.9999 })
    await page.goto(`/orders?filter=${mark}`)
    await rows(page).nth(1).waitFor()
  },
  async 'new-order'({ page }) {
    await page.goto('/orders/new')
    await page.getByLabel('Customer').fill('Alder & Finch')
    await page.getByLabel('Total').fill('1,250.50')
    await page.getByText('Means 1,250.50').first().waitFor()
  },
  async 'new-order-faults'({ page }) {
    await page.getByLabel('Customer').fill('')
    await page.getByLabel('Total').fill('twelve')
    await page.getByRole('button', { name: 'Create order' }).click()
    await page.getByText('Enter the name of the customer.').first().waitFor()
  },
  async 'failure-note'({ page, network, expectFault }) {
    await page.goto('/orders?filter=status%3DPending')
    await rows(page).first().waitFor()
    expectFault(/ 503 .*\/v1\/orders\b/)
    await network({ answers: 'database-unavailable', retryAfterSeconds: 60, paths: '/v1/orders' })
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText('The service is unavailable right now').waitFor()
  },
  async 'session-notice'({ page, network }) {
    await network('normal')
    await page.clock.install()
    await page.goto('/orders/new')
    await heading(page, 'New order').waitFor()
    await page.clock.fastForward(28.5 * minute)
    await page.getByText('Still there?').waitFor()
  },
}

const emptyViews: Views = {
  async 'overview-empty'({ page }) {
    await page.goto('/')
    await page.getByRole('heading', { name: 'No orders yet' }).waitFor()
  },
  async 'orders-empty'({ page }) {
    await page.goto('/orders')
    await page.getByRole('heading', { name: 'No orders yet' }).waitFor()
  },
}

const viewerViews: Views = {
  async 'viewer-orders'({ page }) {
    await page.goto('/orders')
    await rows(page).nth(24).waitFor()
  },
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

describe(
  'in both themes and widths every view is accessible, fits, and requests nothing from another origin',
  sideBySide,
  () => {
    it('without an account', async (t) => {
      await lookAt(t, await browser.person(t, { service }), anonymousViews)
    })

    it('for an admin', async (t) => {
      const person = await browser.person(t, { service })
      await signIn(person, 'admin')
      await lookAt(t, person, adminViews)
    })

    it('for an admin without orders', async (t) => {
      const person = await browser.person(t, { service: emptyService })
      await signIn(person, 'admin')
      await lookAt(t, person, emptyViews)
    })

    it('for a viewer', async (t) => {
      const person = await browser.person(t, { service })
      await signIn(person, 'viewer')
      await lookAt(t, person, viewerViews)
    })
  },
)
