import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { hold } from '../support/browser/journeys.ts'
import {
  approvalsOf,
  closeDialog,
  customersOf,
  eventually,
  focusedName,
  focuses,
  latestFirst,
  openMenu,
  selectAll,
  showsCustomers,
  visit,
} from '../support/browser/orders.ts'
import { openBrowser, type Person, screenshot } from '../support/browser/person.ts'
import { closed, dialog, inDialog, titled } from '../support/browser/question.ts'
import { insertOrders, type OrderRow, storedState } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })

/** An administrator at a list of pending orders of this test alone: "Owl 1" of 1.00 first, and so on. */
async function atList(
  person: Person,
  name: string,
  count: number,
): Promise<{ page: Page; rows: OrderRow[]; names: string[] }> {
  const names = Array.from({ length: count }, (_, index) => `${name} ${index + 1}`)
  const rows = await insertOrders(service, latestFirst(names))
  const page = await visit(person, 'admin', `/orders?filter=${name}`)
  await showsCustomers(page, names.slice(0, 25))
  return { page, rows, names }
}

const bar = (page: Page) => page.getByRole('status').filter({ hasText: 'selected' })
const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })

/** The orders in the dialog, as it shows them: customer, total and result. */
const results = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('[role="alertdialog"] li')].map((item) =>
    [...item.children].filter(({ className }) => className !== 'decide-row-particulars')
      .map(({ textContent }) => textContent).join(' | '))`)

async function choose(page: Page, names: string[]): Promise<void> {
  for (const name of names) await page.getByRole('checkbox', { name: `Select ${name},` }).check()
}

async function openWithKey(page: Page, count: number): Promise<void> {
  await page.keyboard.press('a')
  await titled(page, `Approve ${count} orders?`)
}

/** Returns those of the orders that were approved. Checks that each was approved once, and by whom. */
async function approvedOnce(rows: OrderRow[], by = 'admin'): Promise<string[]> {
  const { orders, keys } = await storedState(service)
  const mine = orders.filter(({ id }) => rows.some((one) => one.id === id))
  const approved = mine.filter(({ status }) => status === 1)
  assert.deepEqual(
    mine.map(({ version, modified_by }) => [version, modified_by]),
    mine.map(({ status }) => (status === 1 ? [2, by] : [1, null])),
  )
  const writes = keys.filter(({ operation }) => approved.some(({ id }) => operation.includes(id)))
  assert.equal(writes.length, approved.length)
  return approved.map(({ customer }) => customer)
}

describe('without a selection', () => {
  const person = browser.stayingPerson({ service })

  it('the key asks about the row that has the focus, or says what is missing', async () => {
    const { page } = await atList(person, 'Grebe', 2)
    await page.keyboard.press('a')
    await page.getByText('Select orders first, or go to one with j and k.').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('a')
    await titled(page, 'Approve this order?')
    await dialog(page).getByText('Grebe 1').waitFor()
    await inDialog(page, 'Approve').click()
    await closed(page)
    await row(page, 'Grebe 1').getByText('Approved').waitFor()
    await focuses(page, 'Grebe 1')
    await page.keyboard.press('a')
    await page.getByText('Only pending orders can be approved.').waitFor()
    assert.equal(await dialog(page).count(), 0)
  })
})

describe('a selection', () => {
  const person = browser.stayingPerson({ service })

  it('is rejected, each order once, with one reason', async () => {
    const { page, rows } = await atList(person, 'Gannet', 4)
    await choose(page, ['Gannet 1', 'Gannet 3'])
    await bar(page).getByRole('button', { name: 'Reject …' }).click()
    await titled(page, 'Reject 2 orders?')
    await checkAccessibility(page)
    await screenshot(page, 'reject-several')
    await page.keyboard.insertText('Too dear.')
    await page.keyboard.press('Enter')
    await titled(page, '2 orders rejected')
    const admin = await service.bearer('admin')
    const texts = rows.map(async ({ id }) => {
      const { items } = (await admin.get(`/v1/orders/${id}/history`)).body as {
        items: { text: string | null }[]
      }
      return items.at(-1)?.text
    })
    assert.deepEqual(await Promise.all(texts), ['Too dear.', undefined, 'Too dear.', undefined])
    await page.keyboard.press('Escape')
    await closed(page)
  })

  it('survives paging and sorting, is counted and summed, and is approved in the end', async () => {
    const { page, rows, names } = await atList(person, 'Owl', 30)
    await choose(page, ['Owl 1', 'Owl 3'])
    await bar(page).getByText('2 selected').waitFor()
    await page.getByRole('button', { name: 'Next page' }).click()
    await showsCustomers(page, names.slice(25))
    await bar(page).getByText('2 selected, 4.00, 2 of them on other pages').waitFor()
    await choose(page, ['Owl 30'])
    await bar(page).getByText('3 selected, 34.00, 2 of them on other pages').waitFor()
    const sent = approvalsOf(page)
    await openWithKey(page, 3)
    await focuses(page, 'Approve 3 orders')
    await inDialog(page, 'Approve 3 orders').click()
    await titled(page, '3 orders approved')
    await focuses(page, 'Close')
    await page.keyboard.press('Enter')
    await closed(page)
    await bar(page).waitFor({ state: 'detached' })
    await focuses(page, 'Owl 30')
    await row(page, 'Owl 30').getByText('Approved').waitFor()
    assert.equal(await row(page, 'Owl 30').getByRole('checkbox').count(), 0)
    await page.getByRole('button', { name: 'First page' }).click()
    await row(page, 'Owl 3').getByText('Approved').waitFor()
    await row(page, 'Owl 2').getByText('Pending').waitFor()
    assert.deepEqual((await approvedOnce(rows)).toSorted(), ['Owl 1', 'Owl 3', 'Owl 30'])
    assert.equal(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size, 3)
    assert.deepEqual(
      sent.map(({ headers }) => headers['if-match']),
      ['"1"', '"1"', '"1"'],
    )
  })

  it('leaves the focus on the row when its checkbox disappears, however late the list learns of the approval', async () => {
    const { page } = await atList(person, 'Avocet', 3)
    await choose(page, ['Avocet 1', 'Avocet 2'])
    await openWithKey(page, 2)
    await focuses(page, 'Approve 2 orders')
    const release = await hold(page, '**/v1/orders?*')
    await inDialog(page, 'Approve 2 orders').click()
    await titled(page, '2 orders approved')
    await focuses(page, 'Close')
    await page.keyboard.press('Enter')
    await closed(page)
    await eventually(async () => assert.match(await focusedName(page), /^Select Avocet 2,/))
    await release()
    await row(page, 'Avocet 2').getByText('Approved').waitFor()
    await focuses(page, 'Avocet 2')
  })

  it('extends over a range of rows with Shift, then over a whole page, then is cleared', async () => {
    const { page, rows } = await atList(person, 'Gull', 26)
    await choose(page, ['Gull 3'])
    await page.getByRole('checkbox', { name: 'Select Gull 7,' }).click({ modifiers: ['Shift'] })
    await bar(page).getByText('5 selected').waitFor()
    const all = selectAll(page)
    assert.equal(await page.evaluate(`document.querySelector('thead input').indeterminate`), true)
    await all.check()
    await bar(page).getByText('25 selected').waitFor()
    await all.uncheck()
    await bar(page).waitFor({ state: 'detached' })
    await choose(page, ['Gull 2'])
    await bar(page).getByRole('button', { name: 'Clear' }).click()
    await bar(page).waitFor({ state: 'detached' })
    await focuses(page, 'Gull 2')
    assert.deepEqual(await approvedOnce(rows), [])
  })

  it('leaves out orders that only others may approve: they have no box', async () => {
    const { body } = await (await service.bearer('admin')).get('/v1/auth/me')
    const own = { created_by: 'admin', created_by_id: body.id, self_approval: 0 } as const
    await insertOrders(service, [
      ...latestFirst(['Quail Mine'], own),
      ...latestFirst(['Quail Theirs'], { self_approval: 0 }),
    ])
    const page = await visit(person, 'admin', '/orders?filter=quail&orderBy=customer')
    await showsCustomers(page, ['Quail Mine', 'Quail Theirs'])
    const boxes = page.getByRole('checkbox', { name: /^Select Quail/ })
    assert.deepEqual(await boxes.count(), 1)
    await selectAll(page).check()
    await bar(page).getByText('1 selected').waitFor()
    await page.getByRole('link', { name: 'Quail Mine' }).focus()
    await page.keyboard.press('x')
    await page.getByText('Only orders that you can approve can be selected.').waitFor()
    await visit(person, 'admin', '/orders?filter=%22quail+mine%22')
    await showsCustomers(page, ['Quail Mine'])
    assert.equal(await page.getByRole('table').getByRole('checkbox').count(), 0)
  })

  it('with more than a hundred orders is approved a hundred at a time, and keeps the others', async () => {
    const { page, rows } = await atList(person, 'Swift', 102)
    await page.getByRole('combobox', { name: 'Rows per page' }).selectOption('100')
    await eventually(async () => assert.equal((await customersOf(page)).length, 100))
    const all = selectAll(page)
    await all.check()
    await page.getByRole('button', { name: 'Next page' }).click()
    await eventually(async () => assert.equal((await customersOf(page)).length, 2))
    await all.check()
    await bar(page)
      .getByText(/^102 selected, [\d,]+\.00, 100 of them on other pages$/)
      .waitFor()
    await bar(page).getByRole('button', { name: 'Approve the first 100' }).click()
    const release = await hold(page, '**/v1/orders/*/approve')
    const sent = approvalsOf(page)
    await inDialog(page, 'Approve 100 orders').click()
    await eventually(() => assert.equal(sent.length, 3))
    assert.equal((await results(page)).length, 100)
    // A request through a browser is dear, so the other 97 are not sent.
    await inDialog(page, 'Stop').click()
    await release()
    await titled(page, '3 of 100 orders approved')
    await inDialog(page, 'Close').click()
    await bar(page).getByText('99 selected').waitFor()
    assert.deepEqual((await approvedOnce(rows)).toSorted(), ['Swift 1', 'Swift 2', 'Swift 3'])
  })
})

describe('several approvals', () => {
  const person = browser.stayingPerson({ service })

  it('show their results even when the list no longer has any of them', async () => {
    const { page, rows } = await atList(person, 'Ruff', 3)
    await openMenu(page, 'Filter')
    await page.locator('label').filter({ hasText: 'Pending' }).click()
    await closeDialog(page)
    await eventually(() => assert.match(page.url(), /status%3DPending/))
    await selectAll(page).check()
    await openWithKey(page, 3)
    await inDialog(page, 'Approve 3 orders').click()
    await page.getByText('No orders match').first().waitFor({ state: 'attached' })
    await dialog(page).getByText('3 approved.').waitFor()
    await focuses(page, 'Close')
    await page.keyboard.press('Enter')
    await closed(page)
    await focuses(page, 'Orders')
    assert.equal((await approvedOnce(rows)).length, 3)
  })
})
