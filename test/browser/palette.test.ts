import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { checkAccessibility, checkColours } from '../support/browser/accessibility.ts'
import { hold, listRequests } from '../support/browser/journeys.ts'
import {
  eventually,
  focusedName,
  focuses,
  isAt,
  latestFirst,
  linkOf,
  showsCustomers,
  visit,
} from '../support/browser/orders.ts'
import { openBrowser, screenshot } from '../support/browser/person.ts'
import { insertOrders } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const palette = (page: Page) => page.getByRole('dialog', { name: 'Search or go to' })
const box = (page: Page) => page.getByRole('combobox', { name: /^Search or go to/ })
const options = (page: Page) => palette(page).getByRole('option')
const namesOf = (page: Page) => options(page).locator('.palette-name').allInnerTexts()

/** What Enter would do, as a screen reader announces it. */
const activeOf = (page: Page) =>
  page.evaluate<string>(
    `document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.querySelector('.palette-name').textContent`,
  )

/** Types without pauses, however slow the machine is. */
const typeAtOnce = `{
  const input = document.activeElement
  const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')
  for (const text of ['xyz', 'xyzz', 'xyzzz']) {
    set.call(input, text)
    input.dispatchEvent(new Event('input', { bubbles: true }))
  }
}`

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await box(page).waitFor()
}

const service = await startService({ clockRuns: true, until: { after } })
const rows = await insertOrders(service, latestFirst(['Acme (Zürich)', 'Acme Ltd', 'Basil', 'OR "AND" -x*']))

describe('the palette', () => {
  const person = browser.stayingPerson({ service })

  it('opens a page with a few letters and Enter; Escape closes it and restores the focus', async () => {
    const page = await visit(person, 'admin', '/orders?filter=acme')
    await showsCustomers(page, ['Acme (Zürich)', 'Acme Ltd'])
    await linkOf(page, 'Acme Ltd').focus()
    await openPalette(page)
    assert.equal(await activeOf(page), 'Overview')
    await checkAccessibility(page)
    await screenshot(page, 'palette')
    await page.keyboard.press('Escape')
    await palette(page).waitFor({ state: 'detached' })
    await focuses(page, 'Acme Ltd')
    await openPalette(page)
    await page.keyboard.type('poli')
    assert.deepEqual(await activeOf(page), 'Policy')
    await page.keyboard.press('Enter')
    await isAt(page, '/approval-policy')
    assert.equal(await palette(page).count(), 0)
  })

  it('finds what is typed', async (t) => {
    const viewer = await service.bearer('viewer')
    const content = {
      name: 'Großkunden',
      filter: 'acme total>1',
      sort: { orderBy: 'total', order: 0 },
      columns: ['customer', 'total'],
      shared: false,
    }
    const kept = await viewer.send('PUT', '/v1/views/0198c0de-0000-7000-8000-000000000001', content)
    assert.equal(kept.status, 201, kept.text)
    const { page } = person
    await page.emulateMedia({ colorScheme: 'dark' })
    await visit(person, 'viewer', '/')

    await t.test('finds orders by words of the customer, and links to one and to all', async () => {
      await openPalette(page)
      await page.keyboard.type('acme')
      await palette(page).getByText('All 2 orders that match').waitFor()
      assert.deepEqual(await namesOf(page), ['Acme (Zürich)', 'Acme Ltd', 'All 2 orders that match'])
      await checkAccessibility(page)
      await checkColours(page)
      await screenshot(page, 'palette-orders')
      await page.keyboard.press('ArrowDown')
      assert.equal(await activeOf(page), 'Acme Ltd')
      await page.keyboard.press('Enter')
      await isAt(page, `/orders/${rows[1]?.id}`)
      await openPalette(page)
      await page.keyboard.type('acme')
      await palette(page).getByText('All 2 orders that match').waitFor()
      await page.keyboard.press('ArrowUp')
      await page.keyboard.press('Enter')
      await isAt(page, '/orders?filter=acme')
    })

    await t.test('treats all text as words, even operators of the search', async () => {
      await openPalette(page)
      for (const text of ['OR "AND" -x*', '(zürich)', '-x*']) {
        await box(page).fill(text)
        await palette(page).getByText('All 1 order that match').waitFor()
      }
      await box(page).fill(`total>1 ${'y'.repeat(2_000)}`)
      await palette(page).getByText('Nothing found.', { exact: true }).waitFor()
      await person.assertClean()
      await page.keyboard.press('Escape')
      await palette(page).waitFor({ state: 'detached' })
    })

    await t.test('finds an order by its number, as it is shown', async () => {
      const order = rows[2]
      const [basil] = (await (await service.bearer('viewer')).get('/v1/orders?columns=number&filter=basil'))
        .body.items
      await openPalette(page)
      for (const text of [`#${basil.number}`, String(order?.id.slice(0, 13))]) {
        await box(page).fill(text)
        await palette(page).getByText('All 1 order that match').waitFor()
        assert.equal(await activeOf(page), 'Basil')
        await palette(page).getByText(`#${basil.number} · 3.00 · Pending`).waitFor()
      }
      await page.keyboard.press('Enter')
      await isAt(page, `/orders/${order?.id}`)
    })

    await t.test('opens a saved view by name, with its filter, sort and columns', async () => {
      await openPalette(page)
      await page.keyboard.type('kunden')
      await palette(page).getByText('Großkunden').waitFor()
      assert.equal(await activeOf(page), 'Großkunden')
      await page.keyboard.press('Enter')
      await showsCustomers(page, ['Acme Ltd'])
      await isAt(page, '/orders?filter=acme+total%3E1&orderBy=total&columns=customer%2Ctotal')
    })
    await page.emulateMedia({ colorScheme: 'light' })
  })

  it('finds users and services by the beginning of a name or email if the person manages accounts', async () => {
    const admin = await service.bearer('admin')
    const body = { userName: 'zora', email: 'Zora.Quill@example.com', roles: [] }
    const { id } = (await admin.post('/v1/users', body)).body
    await admin.post('/v1/clients', { clientId: 'zebra', displayName: 'ZO nightly', roles: [] })
    const page = await visit(person, 'operator', '/')
    const requests = listRequests(page)
    await openPalette(page)
    await page.keyboard.type('zo', { delay: 300 })
    await palette(page).getByText('Nothing found. Type at least three').waitFor()
    const strays = requests.filter((request) => /clients|users/.test(request))
    assert.deepEqual(strays, [])
    await page.keyboard.press('Escape')

    await visit(person, 'admin', '/')
    await openPalette(page)
    await page.keyboard.type('ZO')
    await palette(page).getByText('2 found').waitFor()
    assert.deepEqual(await namesOf(page), ['zora', 'zebra'])
    await checkAccessibility(page)
    await checkColours(page)
    await screenshot(page, 'palette-accounts')
    await box(page).fill('zora.q')
    await palette(page).getByText('1 found').waitFor()
    await page.keyboard.press('Enter')
    await isAt(page, `/accounts/users/${id}`)
  })

  it('requests orders when typing pauses, from three letters on, and drops earlier requests', async () => {
    const page = await visit(person, 'admin', '/')
    await page.getByText('Waiting by age').waitFor()
    await openPalette(page)
    const requests = listRequests(page)
    await page.keyboard.type('xy', { delay: 300 })
    await palette(page).getByText('Nothing found. Type at least three').waitFor()
    await page.evaluate(typeAtOnce)
    await palette(page).getByText('Nothing found.', { exact: true }).waitFor()
    const ofAccounts = ['GET /v1/clients', 'GET /v1/users']
    assert.deepEqual(requests.sort(), [...ofAccounts, ...ofAccounts, 'GET /v1/orders'].sort())
    const release = await hold(page, '**/v1/orders?filter=basil**')
    const dropped = page.waitForEvent('requestfailed')
    await Promise.all([page.waitForRequest(/filter=basil/), box(page).fill('basil')])
    assert.deepEqual(await namesOf(page), ['Search the orders for this'])
    await box(page).fill('acme')
    assert.match((await dropped).url(), /filter=basil/)
    await palette(page).getByText('All 2 orders that match').waitFor()
    await release()
    await page.keyboard.press('Escape')
  })

  it('offers the actions of the page behind it, with their keys, and runs them on the focused row', async () => {
    const page = await visit(person, 'admin', '/orders?filter=acme')
    await showsCustomers(page, ['Acme (Zürich)', 'Acme Ltd'])
    await linkOf(page, 'Acme Ltd').focus()
    await openPalette(page)
    await page.keyboard.type('select')
    await options(page).filter({ hasText: 'Select the row' }).click()
    await eventually(async () =>
      assert.ok(await page.getByRole('checkbox', { name: /^Select Acme Ltd/ }).isChecked()),
    )
    await openPalette(page)
    await page.keyboard.type('keys')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await page.keyboard.press('Control+k')
    assert.equal(await palette(page).count(), 0)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor({ state: 'detached' })
    await page.keyboard.press('h')
    await page.getByText('Waiting by age').waitFor()
    await openPalette(page)
    assert.ok(!(await namesOf(page)).includes('Select the row'))
  })

  it('opens even from a field, and by its button if there is no keyboard', async () => {
    await person.page.setViewportSize({ width: 390, height: 700 })
    const page = await visit(person, 'viewer', '/orders')
    await page.getByRole('combobox', { name: 'Search the orders' }).focus()
    await openPalette(page)
    assert.match(await focusedName(page), /^Search or go to/)
    assert.ok(!(await namesOf(page)).some((name) => name === 'New order' || name === 'Policy'))
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Search …' }).click()
    await box(page).fill('acme')
    await palette(page).getByText('All 2 orders').waitFor()
    await checkAccessibility(page)
    await screenshot(page, 'palette-narrow')
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    await options(page).first().click()
    await isAt(page, `/orders/${rows[0]?.id}`)
  })
})
