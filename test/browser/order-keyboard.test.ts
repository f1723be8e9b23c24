import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import {
  eventually,
  focusedName,
  focuses,
  isAt,
  latestFirst,
  linkOf,
  numbersOf,
  searchBox,
  showsCustomers,
  visit,
} from '../support/browser/orders.ts'
import { openBrowser } from '../support/browser/person.ts'
import { insertOrders } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const owls = ['Owl One', 'Owl Two', 'Owl Three', 'Owl Four']

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
await insertOrders(service, [
  ...latestFirst(Array.from({ length: 30 }, (_, index) => `Sparrow ${index + 1}`)),
  ...latestFirst(owls),
  ...latestFirst(['Kite'], { status: 1, version: 2 }),
])

/** Focuses each stop of the rows and below. Names those that are out of sight or covered. */
const hiddenStops = `(() => {
  const stops = [...document.querySelectorAll('tbody :is(a, input), .list-foot :is(button, select)')]
    .filter((stop) => stop.getClientRects().length > 0)
  document.activeElement.blur()
  const hidden = stops.filter((stop) => {
    stop.focus()
    const { left, right, top, bottom } = stop.getBoundingClientRect()
    return [[left + 2, top + 2], [right - 2, bottom - 2], [(left + right) / 2, (top + bottom) / 2]].some((point) => {
      const seen = document.elementFromPoint(...point)
      const over = seen?.closest('.list-foot, thead')
      return document.activeElement !== stop || seen === null || (over && !over.contains(stop))
    })
  })
  return { areAll: stops.length > 55, hidden: hidden.map((stop) => stop.ariaLabel ?? stop.textContent) }
})()`

describe('the keyboard in the table of orders', () => {
  const person = browser.stayingPerson({ service })

  // It begins at the top of a page that was just loaded.
  it('reaches everything with Tab in visual order', async () => {
    const page = await visit(person, 'admin', '/orders?filter=owl')
    await showsCustomers(page, owls)
    const stops: string[] = []
    while (stops.at(-1) !== 'Rows per page' && stops.length < 80) {
      await page.keyboard.press('Tab')
      stops.push(await focusedName(page))
    }
    // A field for a date has four stops: month, day, year and the calendar.
    const names = stops.filter((name, at) => name !== stops[at - 1])
    const numbers = await numbersOf(page)
    const rows = owls.flatMap((name, at) => [`Select ${name}, ${numbers[at]}`, name])
    assert.deepEqual(names, [
      'Skip to content',
      ...['Countersign', 'Overview', 'Orders', 'Settings', 'Sign out', 'My account:adminAdmin'],
      'Review',
      ...['New order', 'Search the orders', 'Clear the search', 'Filter', 'View'],
      'Reload',
      ...['Select all orders on this page that you can approve', 'Customer', 'Total', 'Status', 'Created'],
      ...rows,
      ...['First page', 'Previous page', 'Next page', 'Last page', 'Rows per page'],
    ])
  })

  it('moves between the rows with j, k and the arrows, opens with Enter', async () => {
    const page = await visit(person, 'admin', '/orders?filter=owl')
    await showsCustomers(page, owls)
    for (const [key, name] of [
      ['j', 'Owl One'],
      ['j', 'Owl Two'],
      ['ArrowDown', 'Owl Three'],
      ['j', 'Owl Four'],
      ['j', 'Owl Four'],
      ['ArrowUp', 'Owl Three'],
      ['k', 'Owl Two'],
      ['k', 'Owl One'],
      ['k', 'Owl One'],
    ] as const) {
      await page.keyboard.press(key)
      assert.equal(await focusedName(page), name, key)
    }
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Owl One' }).waitFor()
  })

  it('selects with x the orders that can be approved, and says why others cannot', async () => {
    const page = await visit(person, 'admin', '/orders?filter=owl+OR+kite&orderBy=customer&order=Asc')
    await showsCustomers(page, ['Kite', 'Owl Four', 'Owl One', 'Owl Three', 'Owl Two'])
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByText('Only orders that you can approve can be selected.').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByText('1 selected', { exact: true }).waitFor()
    assert.ok(await page.getByRole('checkbox', { name: 'Select Owl Four' }).isChecked())
    assert.equal(await focusedName(page), 'Owl Four')
    await page.keyboard.press('x')
    await page.getByText('1 selected', { exact: true }).waitFor({ state: 'detached' })
  })

  it('goes everywhere with n, o, h and ?, but not while a field has the focus', async () => {
    const page = await visit(person, 'admin', '/orders?filter=owl')
    await showsCustomers(page, owls)
    await searchBox(page).focus()
    await page.keyboard.type(' nohx?')
    assert.equal(await searchBox(page).inputValue(), 'owl nohx?')
    await searchBox(page).fill('owl')
    await searchBox(page).press('Enter')
    await searchBox(page).blur()
    await page.keyboard.press('h')
    await isAt(page, '/')
    await eventually(async () => assert.equal(await page.title(), 'Overview · Countersign'))
    await page.keyboard.press('o')
    await isAt(page, '/orders')
    await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await page.keyboard.press('h')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await isAt(page, '/orders')
    await page.keyboard.press('n')
    await isAt(page, '/orders/new')
  })

  it('does nothing while shortcuts are turned off, even after a reload', async () => {
    const page = await visit(person, 'admin', '/orders?filter=owl')
    const use = async (on: boolean) => {
      await page.getByRole('link', { name: /^My account/ }).click()
      await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
      await page.getByRole('checkbox', { name: 'Use these shortcuts' }).setChecked(on)
      await page.getByRole('button', { name: 'Close' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    const pressAll = async () => {
      for (const key of ['j', '/', 'x', '?', 'h', 'o', 'n']) await page.keyboard.press(key)
    }
    await use(false)
    await focuses(page, 'Keyboard shortcuts')
    await pressAll()
    assert.equal(await focusedName(page), 'Keyboard shortcuts')
    await page.goto('/orders?filter=owl')
    await showsCustomers(page, owls)
    await pressAll()
    assert.equal(await page.evaluate('document.activeElement === document.body'), true)
    assert.equal(await page.getByRole('dialog').count(), 0)
    await isAt(page, '/orders?filter=owl')
    // Arrow keys are not single letters.
    await linkOf(page, 'Owl One').focus()
    await page.keyboard.press('ArrowDown')
    assert.equal(await focusedName(page), 'Owl Two')
    await use(true)
    await page.goBack()
    await showsCustomers(page, owls)
    await page.keyboard.press('j')
    assert.equal(await focusedName(page), 'Owl One')
  })

  it('reaches the search with / and Ctrl K from anywhere, with Ctrl K from a field too', async () => {
    const page = await visit(person, 'admin', '/')
    await page.keyboard.press('/')
    await isAt(page, '/orders')
    await focuses(page, 'Search the orders')
    await searchBox(page).fill('owl')
    await showsCustomers(page, owls)
    await searchBox(page).blur()
    await page.keyboard.press('/')
    await page.keyboard.type('Kite')
    await showsCustomers(page, ['Kite'])
    await page.keyboard.press('Escape')
    await searchBox(page).blur()
    await page.keyboard.press('n')
    await page.getByLabel('Customer').focus()
    await page.keyboard.type('/')
    assert.equal(await page.getByLabel('Customer').inputValue(), '/')
    await page.keyboard.press('Control+k')
    await isAt(page, '/orders')
    await focuses(page, 'Search the orders')
    await searchBox(page).blur()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.notEqual(await focusedName(page), 'Search the orders')
  })

  // The sizes that windows of 1280 by 1024 and 1280 by 800 have at 400 % and 200 % zoom, and one without
  // zoom.
  it('never hides the focus behind what covers the rows', async (t) => {
    const page = await visit(person, 'admin', '/orders?filter=sparrow')
    const first = page.getByRole('checkbox', { name: /^Select Sparrow/ }).first()
    await first.click()
    await page.getByText('1 selected').waitFor()
    for (const [width, height] of [
      [320, 256],
      [640, 400],
      [1280, 800],
    ] as const) {
      await t.test(`at ${width} by ${height}`, async () => {
        await page.setViewportSize({ width, height })
        assert.deepEqual(await page.evaluate(hiddenStops), { areAll: true, hidden: [] })
      })
    }
  })
})
