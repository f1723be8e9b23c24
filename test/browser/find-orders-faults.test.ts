import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { listRequests } from '../support/browser/journeys.ts'

import {
  customersOf,
  eventually,
  focusedName,
  latestFirst,
  searchBox,
  showsCustomers,
  visit,
} from '../support/browser/orders.ts'
import { openBrowser, signIn } from '../support/browser/person.ts'
import { insertOrders } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
await insertOrders(service, [
  ...latestFirst(['Finch & Sons', 'Hotel Finch', 'FINCHLEY Works']),
  ...latestFirst(['Heron Mills', 'Heron Yard']),
])

interface Mark {
  text: string
  /** The left and right edge of the mark and of the letters on the screen. */
  seen: [number, number]
  meant: [number, number]
  box: [number, number]
}

function assertExact(mark: Mark): void {
  const distances = mark.seen.map((edge, index) => Math.abs(edge - (mark.meant[index] ?? 0)))
  assert.ok(Math.max(...distances) < 1, JSON.stringify(mark))
}

function assertInSight(mark: Mark): void {
  assertExact(mark)
  assert.ok(mark.box[0] <= mark.seen[0] && mark.seen[1] <= mark.box[1], JSON.stringify(mark))
}

/**
 * Which letters are marked, and the places of the mark and of the letters at fault, to the pixel and in the
 * font of the box.
 */
const marked = (page: Page, from: number, to: number) =>
  page.evaluate<Mark>(`(() => {
    const input = document.querySelector('input[role="combobox"]')
    const marks = [...document.querySelectorAll('.search-fault')]
    const boxes = marks.map((mark) => mark.getBoundingClientRect())
    const ruler = document.body.appendChild(document.createElement('span'))
    const style = getComputedStyle(input)
    for (const name of style) if (/^(font|letter|word|text)/.test(name)) ruler.style[name] = style[name]
    Object.assign(ruler.style, { position: 'absolute', whiteSpace: 'pre' })
    const start = input.getBoundingClientRect().left + parseFloat(style.paddingLeft) - input.scrollLeft
    const at = (index) => {
      ruler.textContent = (input.value + '\u00a0').slice(0, index)
      return start + ruler.getBoundingClientRect().width
    }
    const meant = [at(${from}), at(${to})]
    ruler.remove()
    return {
      text: marks.map((mark) => mark.textContent).join(''),
      seen: [Math.min(...boxes.map(({ left }) => left)), Math.max(...boxes.map(({ right }) => right))],
      meant,
      box: [input.getBoundingClientRect().left, input.getBoundingClientRect().right],
    }
  })()`)

const selection = (page: Page) =>
  page.evaluate<number[]>(`(() => {
    const { selectionStart, selectionEnd } = document.activeElement
    return [selectionStart, selectionEnd]
  })()`)

describe('a half-typed search', () => {
  const person = browser.stayingPerson({ service })

  it('keeps the orders on the screen until it is complete or Enter is pressed', async () => {
    const page = await visit(person, 'viewer', '/orders')
    await searchBox(page).pressSequentially('heron')
    await showsCustomers(page, ['Heron Mills', 'Heron Yard'])
    const requests = listRequests(page)
    await searchBox(page).pressSequentially(' sta')
    await page.getByText('Keep typing, or search for this.').first().waitFor()
    await page.waitForTimeout(600)
    await showsCustomers(page, ['Heron Mills', 'Heron Yard'])
    assert.deepEqual(requests, [])
    // At once: a busy machine types so slowly that half a value would be searched for.
    await page.keyboard.insertText('tus=Approved')
    await page.getByRole('heading', { name: 'No orders match' }).waitFor()
    await searchBox(page).fill('heron sta')
    await searchBox(page).press('Enter')
    await page.waitForURL(/filter=heron\+sta$/)
    await page.getByRole('heading', { name: 'No orders match' }).waitFor()
  })

  it('is explained even if the suggestions cover the message below the box', async () => {
    const page = await visit(person, 'viewer', '/orders')
    person.expectFault(/ 400 /)
    await searchBox(page).pressSequentially('createdAtUtc>')
    const suggestions = page.locator('.search-popup')
    await suggestions.getByText(/createdAtUtc needs a/).waitFor()
    await suggestions.getByRole('option').first().waitFor()
  })
})

describe('a search with a fault', () => {
  const person = browser.stayingPerson({ service })

  const faulty: [what: string, text: string][] = [
    ['a value', 'total>=abc heron'],
    ['an unknown field, behind spaces', '   heron colour=red sparrow'],
    ['behind letters of more than one byte', 'Straße 😀 total=abc'],
    ['at its end', 'heron (status=Pending'],
    ['farther right than the box is wide', `${'heron '.repeat(40)}total=abc`],
  ]
  it('is marked exactly where the service says', async (t) => {
    const page = await visit(person, 'viewer', '/orders?filter=finch')
    const viewer = await service.bearer('viewer')
    await showsCustomers(page, ['Finch & Sons', 'Hotel Finch', 'FINCHLEY Works'])
    await page.evaluate('document.fonts.ready.then(() => true)')
    for (const [what, text] of faulty) {
      await t.test(what, async () => {
        person.expectFault(/ 400 /)
        const asked = `/v1/orders?filter=${encodeURIComponent(text.trim())}`
        const [told] = (await viewer.get(asked)).body.errors
        await searchBox(page).fill(text)
        await searchBox(page).press('Enter')
        await searchBox(page).blur()
        const why = page.getByRole('button', { name: told.detail.replaceAll('`', '') })
        await why.waitFor()
        const from = text.indexOf(text.trim()) + told.position
        const to = from + Math.max(told.length, 1)
        await eventually(async () => {
          const mark = await marked(page, from, to)
          assert.equal(mark.text, `${text}\u00a0`.slice(from, to))
          assertExact(mark)
        })
        const unsaid = told.expected.filter((word: string) => !told.detail.includes(word))
        const asWell = unsaid.length > 0 ? [` Expected: ${unsaid.join(', ')}`] : []
        assert.deepEqual(await page.locator('.search-expected').allTextContents(), asWell)
        await why.click()
        assert.equal(await focusedName(page), 'Search the orders')
        assert.deepEqual(await selection(page), [from, Math.min(from + told.length, text.length)])
        await eventually(async () => assertInSight(await marked(page, from, to)))
      })
    }
  })

  it('that names an unknown field is corrected by one press', async () => {
    const page = await visit(person, 'viewer', '/orders?filter=finch')
    person.expectFault(/ 400 /)
    await searchBox(page).fill('heron  creatdBy=operator yard')
    await searchBox(page).press('Enter')
    await page.getByText('There is no field creatdBy. Did you mean createdBy?').first().waitFor()
    assert.equal(await page.locator('.search-expected').count(), 0)
    await page.getByRole('button', { name: 'Use createdBy' }).click()
    await showsCustomers(page, ['Heron Yard'])
    assert.equal(await searchBox(page).inputValue(), 'heron  createdBy=operator yard')
    assert.equal(await focusedName(page), 'Search the orders')
  })

  it('keeps the previous orders, and its message describes the box', async () => {
    const page = await visit(person, 'viewer', '/orders?filter=finch')
    await showsCustomers(page, ['Finch & Sons', 'Hotel Finch', 'FINCHLEY Works'])
    assert.equal(await searchBox(page).getAttribute('aria-invalid'), 'false')
    person.expectFault(/ 400 /)
    await searchBox(page).fill('total>=abc heron')
    await searchBox(page).press('Enter')
    await page.locator('.search-fault').waitFor()
    assert.equal(await searchBox(page).getAttribute('aria-invalid'), 'true')
    const description = await searchBox(page).getAttribute('aria-describedby')
    const words = 'total needs a number, such as 100 or 12.50.'
    assert.equal(await page.locator(`[id="${description}"]`).textContent(), words)
    await page.getByRole('status').filter({ hasText: words }).waitFor({ state: 'attached' })
    assert.deepEqual(await customersOf(page), ['Finch & Sons', 'Hotel Finch', 'FINCHLEY Works'])
    await searchBox(page).fill('total>=1 heron mills')
    await showsCustomers(page, ['Heron Mills'])
    assert.equal(await searchBox(page).getAttribute('aria-invalid'), 'false')
    assert.equal(await page.locator('.search-fault').count(), 0)
  })

  it('in an address is shown the same way, and can be cleared', async () => {
    person.expectFault(/ 400 /)
    const { page } = person
    await signIn(person, 'viewer')
    await page.goto('/orders?filter=total%3Dabc')
    await page.getByRole('heading', { name: 'This search could not be run' }).waitFor()
    assert.deepEqual((await marked(page, 6, 9)).text, 'abc')
    await page.getByRole('button', { name: 'Show all orders' }).click()
    await eventually(async () => assert.equal((await customersOf(page)).length, 5))
  })

  it('that is too long is marked from its end on', async () => {
    const page = await visit(person, 'viewer', '/orders?filter=finch')
    await showsCustomers(page, ['Finch & Sons', 'Hotel Finch', 'FINCHLEY Works'])
    person.expectFault(/ 400 /)
    const tooLong = `${'heron OR '.repeat(112)}mills`
    assert.equal([...tooLong].length, 1_013)
    await searchBox(page).fill(tooLong)
    await searchBox(page).press('Enter')
    await page.getByText('A filter can have at most 1000 characters.').first().waitFor()
    await searchBox(page).blur()
    assert.equal((await marked(page, 1_000, 1_013)).text, tooLong.slice(1_000))
    assert.equal(await searchBox(page).getAttribute('aria-invalid'), 'true')
    assert.deepEqual(await customersOf(page), ['Finch & Sons', 'Hotel Finch', 'FINCHLEY Works'])
    // The service counts code points; this text has twice as many units of UTF-16.
    await searchBox(page).fill(`${'x'.repeat(600)}${'😀'.repeat(400)}`)
    await page.getByRole('heading', { name: 'No orders match' }).waitFor()
    person.expectFault(/ 414 /)
    await searchBox(page).fill('😀'.repeat(1_000))
    await page.getByText('This search is too long to send. Shorten it.').first().waitFor()
  })
})
