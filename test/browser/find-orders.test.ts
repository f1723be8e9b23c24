import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { hold } from '../support/browser/journeys.ts'
import {
  closeDialog,
  customersOf,
  eventually,
  focusedName,
  focuses,
  isAt,
  latestFirst,
  openMenu,
  searchBox,
  showsCustomers,
  visit,
} from '../support/browser/orders.ts'
import { openBrowser } from '../support/browser/person.ts'
import { insertOrders, orderRow } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
const { body: me } = await (await service.bearer('admin')).get('/v1/auth/me')
await insertOrders(service, [
  ...latestFirst(['Finch & Sons', 'Hotel Finch', 'FINCHLEY Works']),
  ...latestFirst(['Heron Ltd', 'Heron Bros', 'Heron Mills'], { status: 1, version: 2 }),
  ...latestFirst(['Heron Yard'], { created_by: 'admin', created_by_id: me.id, total_e4: 9_990_000 }),
  ...latestFirst(['Plover Pending']),
  ...latestFirst(['Plover Approved'], { status: 1, version: 2 }),
  ...latestFirst(['Plover Rejected'], { status: 2, version: 2 }),
  ...latestFirst(['Plover Withdrawn'], { status: 3, version: 2 }),
  ...latestFirst(Array.from({ length: 60 }, (_, index) => `Sparrow ${index + 1}`)),
  // Half an hour before and after midnight in Auckland, on one day of UTC.
  orderRow({ customer: 'Kiwi before', created_at: Date.UTC(2026, 1, 22, 10, 30) }),
  orderRow({ customer: 'Kiwi after', created_at: Date.UTC(2026, 1, 22, 11, 30) }),
])

const suggestions = (page: Page) => page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option')
const sparrows = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `Sparrow ${from + index}`)

/** The labels in the list of suggestions, and the active one by the box. */
async function offered(page: Page): Promise<{ labels: string[]; active: string | undefined }> {
  const labels = await suggestions(page).locator('code').allInnerTexts()
  const pointer = await searchBox(page).getAttribute('aria-activedescendant')
  const marked = await page.getByRole('option', { selected: true }).locator('code').allInnerTexts()
  const pointed = pointer ? await page.locator(`[id="${pointer}"] code`).allInnerTexts() : []
  assert.deepEqual(pointed, marked)
  return { labels, active: marked[0] }
}

/** Dates have thin spaces around a dash. */
const withPlainSpaces = (text: string) => text.replaceAll(/\s/g, ' ')

const historyLength = (page: Page) => page.evaluate<number>('history.length')

/** How much too wide the page and the table are, and how many lines the controls take. */
const lookOfControls = `(() => {
  const widthOf = (selector) => document.querySelector(selector).getBoundingClientRect().width
  const { scrollWidth, clientWidth } = document.documentElement
  const controls = [...document.querySelectorAll('.list-controls > *')]
  const lines = new Set(controls.map((one) => one.getBoundingClientRect().y)).size
  const table = Math.max(0, widthOf('.orders') - widthOf('.list-card'))
  return { page: scrollWidth - clientWidth, table, lines, isTyping: widthOf('.search-text input') > 80 }
})()`

/** How much too wide the menu is, and how much room a date lacks in it. */
const lookOfFilter = `(() => {
  const menu = document.querySelector('.menu')
  const input = menu.querySelector('.day-range input')
  const { width } = input.getBoundingClientRect()
  Object.assign(input.style, { width: 'max-content', flex: 'none' })
  const missing = Math.max(0, input.getBoundingClientRect().width - width)
  Object.assign(input.style, { width: '', flex: '' })
  const { left, right, top, bottom } = menu.getBoundingClientRect()
  const button = document.querySelector('.menu-button').getBoundingClientRect()
  const isBelow = top > button.bottom && left < button.right && Math.round(right) >= Math.round(button.right)
  const isInside = left >= 0 && right <= innerWidth && bottom <= innerHeight && isBelow
  return { menu: menu.scrollWidth - menu.clientWidth, missing, isInside }
})()`

/** At half past one in Auckland. */
const inAuckland = { service, timezone: 'Pacific/Auckland' }

describe('a search', () => {
  const person = browser.stayingPerson({ service })

  it('finds plain words ignoring case, and says how many orders there are', async () => {
    const page = await visit(person, 'admin', '/orders')
    await page.getByRole('status').filter({ hasText: '73 orders' }).waitFor({ state: 'attached' })
    await searchBox(page).fill('finch')
    await showsCustomers(page, ['Finch & Sons', 'Hotel Finch', 'FINCHLEY Works'])
    await isAt(page, '/orders?filter=finch')
    await page.getByRole('status').filter({ hasText: '3 orders match' }).waitFor({ state: 'attached' })
    await searchBox(page).fill('finch hotel')
    await showsCustomers(page, ['Hotel Finch'])
    await page.getByText('1 order matches').first().waitFor()
    await page.getByRole('button', { name: 'Clear the search' }).click()
    await isAt(page, '/orders')
    assert.equal(await focusedName(page), 'Search the orders')
    assert.equal(await searchBox(page).inputValue(), '')
  })

  it('says how many it found even if the previous list had not arrived', async () => {
    const { page } = person
    const release = await hold(page, '**/v1/orders?pageSize=25&columns=*')
    await page.goto('/orders')
    await searchBox(page).fill('finch')
    await searchBox(page).press('Enter')
    await page.getByRole('status').filter({ hasText: '3 orders match' }).waitFor({ state: 'attached' })
    await release()
  })

  it('goes back and forward through searches, sort orders and pages', async () => {
    const page = await visit(person, 'admin', '/orders?filter=heron')
    const heron = ['Heron Ltd', 'Heron Yard', 'Heron Bros', 'Heron Mills']
    await eventually(async () => assert.equal((await customersOf(page)).length, 4))
    await searchBox(page).fill('sparrow')
    await searchBox(page).press('Enter')
    await showsCustomers(page, sparrows(1, 25))
    await page.getByRole('button', { name: 'Total' }).click()
    await showsCustomers(page, sparrows(36, 60).reverse())
    await page.getByRole('button', { name: 'Next page' }).click()
    await showsCustomers(page, sparrows(11, 35).reverse())
    await page.goBack()
    await showsCustomers(page, sparrows(36, 60).reverse())
    await page.goBack()
    await showsCustomers(page, sparrows(1, 25))
    assert.equal(await searchBox(page).inputValue(), 'sparrow')
    await page.goBack()
    await eventually(async () => assert.deepEqual((await customersOf(page)).sort(), heron.toSorted()))
    assert.equal(await searchBox(page).inputValue(), 'heron')
    await page.goForward()
    await showsCustomers(page, sparrows(1, 25))
    await page.goForward()
    await page.goForward()
    await showsCustomers(page, sparrows(11, 35).reverse())
  })

  it('makes one history entry while the person keeps typing', async () => {
    const page = await visit(person, 'admin', '/orders')
    const before = await historyLength(page)
    await searchBox(page).focus()
    for (const [letters, address] of [
      ['he', 'he'],
      ['ron', 'heron'],
      [' mil', 'heron+mil'],
    ] as const) {
      await page.keyboard.type(letters)
      await isAt(page, `/orders?filter=${address}`)
    }
    await showsCustomers(page, ['Heron Mills'])
    assert.equal(await historyLength(page), before + 1)
    await page.goBack()
    await isAt(page, '/orders')
    await eventually(async () => assert.equal((await customersOf(page)).length, 25))
    assert.equal(await searchBox(page).inputValue(), '')
  })
})

/** A pause while choosing counts as the end of typing, so the service refuses the unfinished text. */
const unfinished = / 400 .*\/v1\/orders\?/

describe('completion', () => {
  const person = browser.stayingPerson({ service })

  it('leads from field to operator to value by the keyboard alone', async () => {
    person.allowFault(unfinished)
    const page = await visit(person, 'admin', '/orders')
    await page.keyboard.press('/')
    await focuses(page, 'Search the orders')
    await page.keyboard.type('heron stat')
    await suggestions(page).first().waitFor()
    assert.equal(await searchBox(page).getAttribute('aria-expanded'), 'true')
    const first = { labels: ['status=', 'status!='], active: undefined }
    await eventually(async () => assert.deepEqual(await offered(page), first))
    await page.keyboard.type('us')
    await eventually(async () => assert.deepEqual(await offered(page), first))
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await eventually(async () => assert.equal((await offered(page)).active, 'status!='))
    await page.keyboard.press('Tab')
    assert.equal(await searchBox(page).inputValue(), 'heron status!=')
    await eventually(async () =>
      assert.deepEqual((await offered(page)).labels.slice(0, 2), ['Pending', 'Approved']),
    )
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    assert.equal(await searchBox(page).inputValue(), 'heron status!=Pending')
    assert.equal(await focusedName(page), 'Search the orders')
    await page.keyboard.press('Enter')
    await showsCustomers(page, ['Heron Ltd', 'Heron Bros', 'Heron Mills'])
    await isAt(page, '/orders?filter=heron+status%21%3DPending')
    assert.equal(await searchBox(page).getAttribute('aria-expanded'), 'false')
  })

  it('works by mouse, and leaves the focus in the box', async () => {
    person.allowFault(unfinished)
    const page = await visit(person, 'admin', '/orders')
    await searchBox(page).click()
    await page.keyboard.type('creat')
    await page.getByRole('option', { name: /^createdBy= / }).click()
    assert.equal(await searchBox(page).inputValue(), 'createdBy=')
    await page.getByRole('option', { name: /^me you/ }).click()
    assert.equal(await searchBox(page).inputValue(), 'createdBy=me')
    assert.equal(await focusedName(page), 'Search the orders')
    await page.keyboard.type(' tot')
    await page.getByRole('option', { name: /^total>= / }).click()
    await page.keyboard.type('900')
    assert.equal(await searchBox(page).inputValue(), 'createdBy=me total>=900')
    await showsCustomers(page, ['Heron Yard'])
  })

  it('closes on Escape; only a second Escape empties the box', async () => {
    const page = await visit(person, 'admin', '/orders')
    await searchBox(page).focus()
    await page.keyboard.type('heron stat')
    await suggestions(page).first().waitFor()
    await page.keyboard.press('Escape')
    await suggestions(page).first().waitFor({ state: 'detached' })
    assert.equal(await searchBox(page).inputValue(), 'heron stat')
    await page.keyboard.press('Escape')
    assert.equal(await searchBox(page).inputValue(), '')
    assert.equal(await focusedName(page), 'Search the orders')
    await eventually(async () => assert.equal((await customersOf(page)).length, 25))
  })
})

describe('the filter menu', () => {
  const person = browser.stayingPerson({ service })
  const status = (name: string) => person.page.getByRole('radio', { name })
  const chips = () => person.page.getByRole('list', { name: 'Filters' }).getByRole('button').allInnerTexts()

  it('changes its part of the search, and leaves the rest of it unchanged', async () => {
    const page = await visit(person, 'admin', '/orders?filter=heron')
    await openMenu(page, 'Filter')
    assert.ok(await status('All').isChecked())
    await page.getByRole('region', { name: 'Status' }).getByText('Approved', { exact: true }).click()
    await showsCustomers(page, ['Heron Ltd', 'Heron Bros', 'Heron Mills'])
    assert.equal(await searchBox(page).inputValue(), 'heron status=Approved')
    assert.ok(await status('Approved').isChecked())
    await status('Approved').press('ArrowUp')
    await showsCustomers(page, ['Heron Yard'])
    assert.equal(await searchBox(page).inputValue(), 'heron status=Pending')
    await status('Pending').press('ArrowUp')
    await isAt(page, '/orders?filter=heron')
    assert.ok(await status('All').isChecked())
    assert.equal(await focusedName(page), 'All')
    await closeDialog(page)
    await focuses(page, 'Filter')
  })

  it('sets each status by one press, and only pending orders can be selected', async () => {
    const page = await visit(person, 'admin', '/orders?filter=plover')
    await openMenu(page, 'Filter')
    for (const name of ['Pending', 'Approved', 'Rejected', 'Withdrawn']) {
      await page.getByRole('region', { name: 'Status' }).getByText(name, { exact: true }).click()
      await isAt(page, `/orders?filter=plover+status%3D${name}`)
      await closeDialog(page)
      await showsCustomers(page, [`Plover ${name}`])
      await page.getByRole('cell', { name, exact: true }).waitFor()
      const boxes = page.getByRole('checkbox', { name: /^Select Plover/ })
      assert.equal(await boxes.count(), name === 'Pending' ? 1 : 0)
      await openMenu(page, 'Filter')
    }
    await closeDialog(page)
    await searchBox(page).fill('plover status!=Approved -status=Pending')
    await eventually(async () =>
      assert.deepEqual((await customersOf(page)).toSorted(), ['Plover Rejected', 'Plover Withdrawn']),
    )
  })

  it('offers nothing that a search restricts in another way', async () => {
    const page = await visit(person, 'admin', '/orders?filter=heron+(status%3DPending+OR+total%3D1)')
    await eventually(async () => assert.equal((await customersOf(page)).length, 2))
    await openMenu(page, 'Filter')
    await page.getByText('Edit the search itself to change this.').waitFor()
    assert.equal(await page.getByRole('radio').count(), 0)
    await page.getByLabel('Created from').waitFor()
    await closeDialog(page)
    assert.deepEqual(await chips(), [])
  })

  it('shows its choices below the box, where a press removes each', async () => {
    const filter = 'heron status=Pending createdAtUtc>=2026-01-01 createdAtUtc<=2026-02-01 waits:me'
    const page = await visit(person, 'admin', `/orders?filter=${encodeURIComponent(filter)}`)
    const all = ['Pending', 'Created Jan 1 – Feb 1, 2026', 'Waiting for you']
    await eventually(async () => assert.deepEqual((await chips()).map(withPlainSpaces), all))
    await page.getByRole('button', { name: 'Remove the filter Created' }).click()
    await isAt(page, '/orders?filter=heron+status%3DPending+waits%3Ame')
    await focuses(page, 'Filter')
    await page.getByRole('button', { name: 'Remove the filter Waiting for you' }).click()
    await eventually(async () => assert.deepEqual(await chips(), ['Pending']))
    await page.getByRole('button', { name: 'Remove the filter Pending' }).press('Enter')
    await isAt(page, '/orders?filter=heron')
    await page.goBack()
    await isAt(page, '/orders?filter=heron+status%3DPending')
    await openMenu(page, 'Filter')
    await page.getByLabel('Waiting for you').check()
    await isAt(page, '/orders?filter=heron+status%3DPending+waits%3Ame')
    await closeDialog(page)
  })
})

describe('the controls around the list', () => {
  const person = browser.stayingPerson({ service })

  it('fit into every window in one line, and their menu has room for whole dates', async () => {
    const page = await visit(person, 'admin', '/orders')
    await page.locator('.orders-row').first().waitFor()
    const good = { page: 0, table: 0, lines: 1, isTyping: true, menu: 0, missing: 0, isInside: true }
    await openMenu(page, 'Filter')
    for (const width of [320, 390, 480, 560, 670, 700, 740, 920, 940, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      // The menu follows once the page is drawn.
      await eventually(async () => {
        const controls = await page.evaluate<object>(lookOfControls)
        const menu = await page.evaluate<object>(lookOfFilter)
        assert.deepEqual({ ...controls, ...menu }, good, `${width} px`)
      })
    }
    await closeDialog(page)
  })
})

describe('a day', () => {
  const person = browser.stayingPerson(inAuckland)
  before(() => person.page.clock.setSystemTime('2026-02-22T12:30:00Z'))

  it('is the day that the rows show: at 01:30 "today" finds the orders of today', async () => {
    const page = await visit(person, 'viewer', '/orders?filter=kiwi')
    await showsCustomers(page, ['Kiwi after', 'Kiwi before'])
    const [, after] = await page.getByRole('row').allInnerTexts()
    assert.match(after ?? '', /Feb 23, 2026, 12:30/)
    await searchBox(page).focus()
    await page.keyboard.press('End')
    await page.keyboard.type(' today')
    await page.getByRole('option', { name: /created today/ }).click()
    assert.equal(await searchBox(page).inputValue(), 'kiwi createdAtUtc=2026-02-23')
    await showsCustomers(page, ['Kiwi after'])
    await isAt(page, '/orders?filter=kiwi+createdAtUtc%3D2026-02-23')
    await page.reload()
    await showsCustomers(page, ['Kiwi after'])
  })

  it('can be chosen in the menu, alone or as a range, as part of the search', async () => {
    const page = await visit(person, 'viewer', '/orders?filter=kiwi+createdAtUtc%3C%3D2026-02-22')
    await showsCustomers(page, ['Kiwi before'])
    await openMenu(page, 'Filter')
    const dialog = page.getByRole('dialog')
    const [from, until] = [dialog.getByLabel('Created from'), dialog.getByLabel('Created until')]
    assert.equal(await from.inputValue(), '')
    assert.equal(await until.inputValue(), '2026-02-22')
    await until.fill('2026-02-23')
    await showsCustomers(page, ['Kiwi after', 'Kiwi before'])
    await from.fill('2026-02-23')
    await showsCustomers(page, ['Kiwi after'])
    assert.equal(await searchBox(page).inputValue(), 'kiwi createdAtUtc=2026-02-23')
    await until.fill('')
    await isAt(page, '/orders?filter=kiwi+createdAtUtc%3E%3D2026-02-23')
    // A half-typed year is not a search.
    await from.press('ArrowRight')
    await from.press('ArrowRight')
    await page.keyboard.type('19')
    assert.equal(await searchBox(page).inputValue(), 'kiwi createdAtUtc>=2026-02-23')
    await until.focus()
    assert.equal(await from.inputValue(), '2026-02-23')
    await closeDialog(page)
  })

  it('cannot be chosen where a search restricts dates in another way', async () => {
    const page = await visit(person, 'viewer', '/orders?filter=kiwi+(createdAtUtc%3C2026-02-01+OR+total%3E0)')
    await showsCustomers(page, ['Kiwi after', 'Kiwi before'])
    await openMenu(page, 'Filter')
    await page.getByText('Edit the search itself to change this.').waitFor()
    assert.equal(await page.getByLabel('Created from').count(), 0)
    await closeDialog(page)
  })
})

describe('a search without orders', () => {
  const person = browser.stayingPerson({ service })

  it('that matches nothing says so and offers wider searches', async () => {
    const page = await visit(person, 'admin', '/orders?filter=finch+status%3DApproved')
    await page.getByRole('heading', { name: 'No orders match' }).waitFor()
    await page.getByRole('button', { name: 'Search all statuses' }).click()
    await showsCustomers(page, ['Finch & Sons', 'Hotel Finch', 'FINCHLEY Works'])
    assert.equal(await focusedName(page), 'Finch & Sons')
    await searchBox(page).fill('admin')
    await page.getByRole('button', { name: /^createdBy=admin \([\d,]+ orders?\)$/ }).click()
    await isAt(page, '/orders?filter=createdBy%3Dadmin')
    await searchBox(page).fill('nobody of this name')
    await page.getByRole('heading', { name: 'No orders match' }).waitFor()
    await page.getByRole('button', { name: 'Show all orders' }).click()
    await isAt(page, '/orders')
    await eventually(async () => assert.equal((await customersOf(page)).length, 25))
    await focuses(page, (await customersOf(page))[0] ?? '')
  })

  it('past its last page says so and leads to that page', async () => {
    const page = await visit(person, 'admin', '/orders?filter=sparrow&pageNumber=40')
    await page.getByRole('heading', { name: 'There is no page 40' }).waitFor()
    await page.getByText('The last page is 3.').waitFor()
    await page.getByRole('button', { name: 'Go to the last page' }).click()
    await showsCustomers(page, sparrows(51, 60))
    await isAt(page, '/orders?filter=sparrow&pageNumber=3')
    await focuses(page, 'Sparrow 51')
  })
})
