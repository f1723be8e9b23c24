import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import type { Transaction } from '#kysely'
import { recordEvent } from '../../server/audit/audit.ts'
import type { Database } from '../../server/db/tables.ts'
import { newOrderedId } from '../../server/ids.ts'
import { orderEvent } from '../../server/orders/event.ts'
import { hold } from '../support/browser/journeys.ts'
import {
  customersOf,
  eventually,
  focusedName,
  focuses,
  idsOf,
  isAt,
  latestFirst,
  linkOf,
  numbersOf,
  searchBox,
  selectAll,
  showsCustomers,
  visit,
} from '../support/browser/orders.ts'
import { openBrowser } from '../support/browser/person.ts'
import { withRawDatabase } from '../support/database.ts'
import { insertOrders, orderRow, stamp, variedOrders } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const createdAt = Date.UTC(2026, 0, 31, 20, 30)
const tokyo = {
  zoned: newOrderedId(createdAt),
  row: { created_at: createdAt, created_at_time_zone: 'America/New_York' },
} as const
const service = await startService({ clockRuns: true, until: { after } })
await insertOrders(service, [
  ...variedOrders(60),
  ...latestFirst(Array.from({ length: 130 }, (_, index) => `Sparrow ${index + 1}`)),
  ...latestFirst(['Owl One', 'Owl Two', 'Owl Three', 'Owl Four']),
  ...latestFirst(['Kite'], {
    status: 1,
    version: 2,
    modified_by: 'admin',
    updated_at: Date.UTC(2026, 0, 2),
  }),
  ...[0, 1].map((hours) =>
    orderRow({
      customer: 'Twin',
      total_e4: 50_000,
      created_at: Date.UTC(2026, 0, 1, 0, 0, 7, 123) - hours * 3_600_000,
    }),
  ),
  orderRow({ id: tokyo.zoned, customer: 'Ibis', total_e4: 12_345_678_900, ...tokyo.row }),
  orderRow({ customer: 'Ibis fine', total_e4: 10_001, ...tokyo.row }),
])
await withRawDatabase(service.databaseUrl, recordCreation)

/** Records what creating an order by a request leaves in the log. */
function recordCreation(trx: Transaction<Database>): Promise<void> {
  const order = { id: tokyo.zoned, version: 1, customer: 'Ibis', total: 12_345_678_900 }
  const by = stamp({ nowMilliseconds: createdAt, timeZone: tokyo.row.created_at_time_zone, by: 'operator' })
  return recordEvent(trx, by, orderEvent('created', order))
}

const sparrows = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `Sparrow ${from + index}`)

const table = (page: Page) => page.getByRole('table')

describe('a heading', () => {
  const person = browser.stayingPerson({ service })

  it('sorts both ways as the service does, and keeps the focus', async (t) => {
    const page = await visit(person, 'admin', '/orders')
    const caller = await service.bearer('viewer')
    await eventually(async () => assert.equal((await idsOf(page)).length, 25))
    for (const [heading, orderBy, directions] of [
      // The list begins with the latest order, and a press reverses that.
      ['Created', 'createdAtUtc', ['Asc', 'Desc']],
      ['Customer', 'customer', ['Asc', 'Desc']],
      ['Total', 'total', ['Desc', 'Asc']],
      ['Status', 'status', ['Asc', 'Desc']],
    ] as const) {
      await t.test(heading, async () => {
        for (const order of directions) {
          await page.getByRole('button', { name: heading, exact: true }).click()
          const { body } = await caller.get(`/v1/orders?pageSize=25&orderBy=${orderBy}&order=${order}`)
          const ids = body.items.map(({ id }: { id: string }) => id)
          await eventually(async () => assert.deepEqual(await idsOf(page), ids))
          const sorted = page.locator('[aria-sort]')
          assert.equal(await sorted.count(), 1)
          assert.equal(await sorted.getByRole('button').textContent(), heading)
          assert.equal(await sorted.getAttribute('aria-sort'), order === 'Asc' ? 'ascending' : 'descending')
          assert.equal(await focusedName(page), heading)
        }
      })
    }
  })
})

describe('the pages', () => {
  const person = browser.stayingPerson({ service })
  const step = (page: Page, name: string) => page.getByRole('button', { name: `${name} page` })

  it('are reached by first, previous, next and last, and the button keeps the focus', async () => {
    const page = await visit(person, 'admin', '/orders?filter=sparrow')
    await showsCustomers(page, sparrows(1, 25))
    assert.equal(await step(page, 'First').getAttribute('aria-disabled'), 'true')
    assert.equal(await step(page, 'Previous').getAttribute('aria-disabled'), 'true')
    for (const [name, from, to, address] of [
      ['Next', 26, 50, '&pageNumber=2'],
      ['Last', 126, 130, '&pageNumber=6'],
      ['Previous', 101, 125, '&pageNumber=5'],
      ['First', 1, 25, ''],
    ] as const) {
      await step(page, name).click()
      await showsCustomers(page, sparrows(from, to))
      await isAt(page, `/orders?filter=sparrow${address}`)
      await page.getByRole('navigation', { name: 'Pages' }).getByText(`${from}–${to} of 130`).waitFor()
      assert.equal(await focusedName(page), `${name} page`)
    }
    await step(page, 'Last').press('Enter')
    await showsCustomers(page, sparrows(126, 130))
    assert.equal(await step(page, 'Next').getAttribute('aria-disabled'), 'true')
    await step(page, 'Next').click({ force: true })
    await isAt(page, '/orders?filter=sparrow&pageNumber=6')
  })

  it('stay on the screen, marked busy, until the next one is there; two presses skip a page', async () => {
    // No page of this search is cached.
    const found = '/orders?filter=customer%3Asparrow'
    const page = await visit(person, 'admin', found)
    await showsCustomers(page, sparrows(1, 25))
    assert.equal(await table(page).getAttribute('aria-busy'), 'false')
    const release = await hold(page, '**/v1/orders?*')
    await page.getByRole('button', { name: 'Customer' }).click()
    await isAt(page, `${found}&orderBy=customer`)
    // The arrow belongs to the rows that are shown.
    const created = page.getByRole('columnheader', { name: 'Created' })
    assert.equal(await created.getAttribute('aria-sort'), 'descending')
    await page.goBack()
    await isAt(page, found)
    await showsCustomers(page, sparrows(1, 25))
    await eventually(async () => assert.equal(await table(page).getAttribute('aria-busy'), 'false'))
    await step(page, 'Next').press('Enter')
    await step(page, 'Next').press('Enter')
    await isAt(page, `${found}&pageNumber=3`)
    assert.equal(await table(page).getAttribute('aria-busy'), 'true')
    assert.deepEqual(await customersOf(page), sparrows(1, 25))
    await page.getByText('Still searching …').waitFor()
    assert.deepEqual(await customersOf(page), sparrows(1, 25))
    await release()
    await showsCustomers(page, sparrows(51, 75))
    assert.equal(await table(page).getAttribute('aria-busy'), 'false')
    assert.equal(await page.getByText('Still searching …').count(), 0)
    assert.equal(await focusedName(page), 'Next page')
  })
})

describe('a row', () => {
  const person = browser.stayingPerson({ service })

  it('shows its total and time in English, whatever the browser’s language, and in the viewer’s time zone', async (t) => {
    const person = await browser.person(t, { service, locale: 'fa-IR', timezone: 'Asia/Tokyo' })
    const page = await visit(person, 'viewer', '/orders?filter=ibis&orderBy=total&order=Desc')
    await showsCustomers(page, ['Ibis', 'Ibis fine'])
    const cells = await page
      .getByRole('row')
      .filter({ has: linkOf(page, 'Ibis') })
      .getByRole('cell')
      .allInnerTexts()
    assert.deepEqual(cells, ['1,234,567.89', 'Pending', 'Feb 1, 2026, 5:30 AM'])
    const fine = page
      .getByRole('row')
      .filter({ has: linkOf(page, 'Ibis fine') })
      .getByRole('cell')
    assert.equal((await fine.allInnerTexts())[0], '1.0001')
    await linkOf(page, 'Ibis').click()
    await page.getByRole('heading', { name: 'Ibis' }).waitFor()
    await page.getByText('1,234,567.89', { exact: true }).waitFor()
    const event = page.getByRole('listitem').filter({ hasText: 'Created' })
    await event.getByText('Jan 31, 2026, 3:30 PM in America/New York').waitFor()
    const time = event.getByRole('time')
    assert.equal(await time.textContent(), 'Feb 1, 2026, 5:30 AM')
    assert.equal(await time.getAttribute('datetime'), '2026-01-31T20:30:00.000Z')
  })

  it('can be distinguished from an identical order wherever it is decided', async () => {
    const page = await visit(person, 'admin', '/orders?filter=twin')
    await showsCustomers(page, ['Twin', 'Twin'])
    const [first = '', second = ''] = await numbersOf(page)
    assert.match(first, /^#\d+$/)
    assert.notEqual(first, second)
    for (const [at, number, when] of [
      [0, first, 'Jan 1, 2026, 12:00 AM'],
      [1, second, 'Dec 31, 2025, 11:00 PM'],
    ] as const) {
      const row = page.getByRole('row').nth(at + 1)
      assert.equal(await row.getByRole('rowheader').textContent(), `Twin${number}`)
      await row.getByRole('checkbox', { name: `Select Twin, ${number}`, exact: true }).check()
      await searchBox(page).fill(number)
      await showsCustomers(page, ['Twin'])
      await page.getByRole('link', { name: 'Twin' }).click()
      await page.getByRole('heading', { name: 'Twin' }).waitFor()
      assert.equal(await page.title(), `\u2068Twin\u2069 · 5.00 · ${number} · ${when} · Countersign`)
      await page.getByRole('button', { name: 'Approve' }).waitFor()
      await page.keyboard.press('a')
      const dialog = page.getByRole('alertdialog')
      await dialog.getByText(`${number} · ${when}`).waitFor()
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await visit(person, 'admin', '/orders?filter=twin')
      await showsCustomers(page, ['Twin', 'Twin'])
    }
    await selectAll(page).check()
    await page.keyboard.press('a')
    const items = await page.getByRole('alertdialog').getByRole('listitem').allInnerTexts()
    assert.deepEqual(
      items.map((text) => text.split('\n').at(-1)),
      [`${first} · Jan 1, 2026, 12:00 AM`, `${second} · Dec 31, 2025, 11:00 PM`],
    )
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
  })

  it('opens on a press anywhere, and has the focus on the way back', async () => {
    const page = await visit(person, 'admin', '/orders?filter=owl')
    await page
      .getByRole('row')
      .filter({ has: linkOf(page, 'Owl Three') })
      .getByText('Pending')
      .click({ force: true })
    await page.getByRole('heading', { name: 'Owl Three' }).waitFor()
    await focuses(page, 'Order for Owl Three')
    await page.getByRole('link', { name: 'Orders', exact: true }).last().click()
    await isAt(page, '/orders?filter=owl')
    await focuses(page, 'Owl Three')
    await linkOf(page, 'Owl Two').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Owl Two' }).waitFor()
    await page.goBack()
    await focuses(page, 'Owl Two')
  })
})
