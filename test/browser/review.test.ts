import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { newUser, signIn as signInElsewhere } from '../support/accounts.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { hold, holdTime } from '../support/browser/journeys.ts'
import { eventually, focuses, isAt, latestFirst, storedOrder, visit } from '../support/browser/orders.ts'
import { openBrowser, screenshot } from '../support/browser/person.ts'
import { seal } from '../support/log.ts'
import { createdId, insertOrders } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })

/** A colleague who works elsewhere at the same time. */
const someone = await newUser(service, { roles: ['Admin'] })
const colleague = await signInElsewhere(service, someone)

interface Scene {
  page: Page
  /** Keyed by customer. */
  ids: Map<string, string>
  /** The total of all orders of this review, which no other test uses. The list of them is at `path`. */
  total: number
  path: string
  /** Presses a key; all presses are counted. */
  press(key: string): Promise<void>
  presses(): number
}

const shows = (page: Page, customer: string, place: string) =>
  page.getByRole('heading', { level: 1, name: `${place}: Order for ${customer}`, exact: true }).waitFor()

/** An order has to be on the screen for a moment before it can be decided. */
const lookMilliseconds = 250
const undoMilliseconds = 5_000

/** Presses the key for an order, and once more at the instant at which the next one can be decided. */
const pressTwice = `new Promise((resolve, reject) => {
  setTimeout(() => reject(new Error('the next order did not come')), 10_000)
  const press = (timeStamp) => {
    const event = new KeyboardEvent('keydown', { key: 'a', bubbles: true, cancelable: true })
    document.body.dispatchEvent(Object.defineProperty(event, 'timeStamp', { value: timeStamp }))
  }
  const before = document.querySelector('h1').textContent
  const observer = new MutationObserver(() => {
    if (document.querySelector('h1')?.textContent === before || !document.querySelector('.order-actions .button-primary')) return
    observer.disconnect()
    const at = performance.now()
    requestAnimationFrame(() => setTimeout(() => resolve(press(at)), 50))
  })
  observer.observe(document.body, { subtree: true, childList: true, characterData: true })
  press(performance.now())
})`

const numbered = (count: number) =>
  Array.from({ length: count }, (_, at) => `Customer ${String(at + 1).padStart(2, '0')}`)

describe('a review', () => {
  const person = browser.samePerson({ service, isLive: true })
  let scenes = 0
  /** Lets time pass at once for the person, whose date otherwise stands still. */
  let pass: (milliseconds: number) => Promise<void>
  before(async () => {
    pass = await holdTime(person.page, service.now())
  })

  async function canDecide(page: Page): Promise<void> {
    await page.getByRole('button', { name: /^Approve/ }).waitFor()
    await pass(lookMilliseconds)
  }

  /** Waits for the decisions that can still be undone, too. */
  async function areStored({ ids }: Scene, expected: Record<string, number>): Promise<void> {
    await pass(undoMilliseconds)
    const statusOf = async (customer: string) => (await storedOrder(service, ids.get(customer) ?? '')).status
    await eventually(async () => {
      const statuses = Object.keys(expected).map(async (customer) => [customer, await statusOf(customer)])
      assert.deepEqual(Object.fromEntries(await Promise.all(statuses)), expected)
    })
  }

  /** Prepares a new person who is about to review the pending orders of these customers. */
  async function aboutToReview(customers: string[]): Promise<Scene> {
    scenes += 1
    const total = 100 + scenes
    const path = `/orders?filter=status%3DPending+total%3D${total}&orderBy=customer`
    const operator = await service.bearer('operator')
    const ids = new Map<string, string>()
    for (const customer of customers) ids.set(customer, await createdId(operator, { customer, total }))
    await seal(service.db)
    // Ends the connection of the previous page.
    await person.page.goto('about:blank')
    const listening = person.page.waitForResponse(/\/v1\/orders\/events/)
    const page = await visit(person, await newUser(service, { roles: ['Admin'] }), path)
    await listening
    await page.getByRole('link', { name: customers[0] ?? '' }).waitFor()
    let presses = 0
    const press = async (key: string) => {
      presses += 1
      await page.keyboard.press(key)
    }
    return { page, ids, total, path, press, presses: () => presses }
  }

  it('decides order after order by keyboard alone with at most two keys each, and shows what others did', async () => {
    const customers = numbered(6)
    const scene = await aboutToReview(customers)
    const { page, ids, press, presses } = scene
    await press('v')
    const others = ['Customer 03', 'Customer 05']
    const rejected = ['Customer 02', 'Customer 06']
    for (const [at, customer] of customers.entries()) {
      await shows(page, customer, `${at + 1} of 6`)
      const before = presses()
      if (others.includes(customer)) {
        await page.getByText(new RegExp(`^Approved by ${someone.userName}, `)).waitFor()
        assert.equal(await page.getByRole('button', { name: /^Approve/ }).count(), 0)
        await pass(lookMilliseconds)
        await press('a')
        await page.getByText('This order is approved.').waitFor()
        await press('j')
      } else if (rejected.includes(customer)) {
        await canDecide(page)
        await press('r')
        await page.getByLabel('Reason').waitFor()
        await page.keyboard.insertText('Too dear.')
        await press('Enter')
      } else {
        await canDecide(page)
        await press('a')
        // The review asks once whether to confirm each decision.
        if (at === 0) await press('Enter')
      }
      assert.ok(presses() - before <= 2, customer)
      const other = others[at / 2]
      if (other) {
        await colleague.patch(`/v1/orders/${ids.get(other)}/approve`)
        await seal(service.db)
      }
    }
    await page.getByText('You went through 6 orders. You approved 2 and rejected 2.').waitFor()
    const statuses = customers.map((customer) => [customer, rejected.includes(customer) ? 2 : 1])
    await areStored(scene, Object.fromEntries(statuses))
    await checkAccessibility(page)
    await screenshot(page, 'review-end')
  })

  it('keeps its orders, its place and its number through a reload, whatever others decide in between', async () => {
    const { page, ids, press, path } = await aboutToReview(numbered(4))
    await press('v')
    await shows(page, 'Customer 01', '1 of 4')
    const back = page.getByRole('button', { name: 'Back' })
    const visited = await page.evaluate('history.length')
    assert.equal(await back.getAttribute('aria-disabled'), 'true')
    await press('j')
    await press('j')
    await shows(page, 'Customer 03', '3 of 4')
    assert.equal(await page.evaluate('history.length'), visited)
    await page.getByRole('button', { name: 'Skip', exact: true }).waitFor()
    assert.notEqual(await back.getAttribute('aria-disabled'), 'true')
    assert.equal(await page.getByRole('progressbar').getAttribute('value'), '2')
    assert.equal(await page.getByText('No decision needed.').count(), 0)
    await canDecide(page)
    assert.equal(await page.getByRole('checkbox', { name: 'Confirm each decision' }).count(), 0)
    await press('r')
    await page.getByLabel('Reason').waitFor()
    for (const customer of ['Customer 02', 'Customer 03']) {
      await colleague.patch(`/v1/orders/${ids.get(customer)}/reject`, { reason: 'No.' })
    }
    await seal(service.db)
    const note = page.getByText(new RegExp(`^Rejected by ${someone.userName}, `))
    await note.waitFor()
    assert.equal(await page.getByLabel('Reason').count(), 0)
    await page.reload()
    await shows(page, 'Customer 03', '3 of 4')
    await note.waitFor()
    await press('k')
    await shows(page, 'Customer 02', '2 of 4')
    await note.waitFor()
    await page.getByRole('link', { name: 'Orders', exact: true }).last().click()
    await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
    await isAt(page, path)
  })

  it('never offers to decide what someone else has decided, not even while the order is loading', async () => {
    const { page, ids, press } = await aboutToReview(numbered(2))
    const fetched = page.waitForResponse(`**/v1/orders/${ids.get('Customer 02')}/history**`)
    await press('v')
    await shows(page, 'Customer 01', '1 of 2')
    await fetched
    const waiting = async () => Number(/^\((\d+)\)/.exec(await page.title())?.[1])
    await eventually(async () => assert.ok((await waiting()) >= 2))
    const before = await waiting()
    await colleague.patch(`/v1/orders/${ids.get('Customer 02')}/approve`)
    await seal(service.db)
    await eventually(async () => assert.equal(await waiting(), before - 1))
    const release = await hold(page, `**/v1/orders/${ids.get('Customer 02')}`)
    await press('j')
    await shows(page, 'Customer 02', '2 of 2')
    assert.equal(await page.getByRole('button', { name: /^(?:Approve|Reject)/ }).count(), 0)
    await release()
    await page.getByText(new RegExp(`^Approved by ${someone.userName}, `)).waitFor()
  })

  it('begins at the focused row, and asks for confirmation of each decision if the user wants that', async () => {
    const scene = await aboutToReview(numbered(3))
    const { page, press } = scene
    await press('j')
    await press('j')
    await focuses(page, 'Customer 02')
    await press('v')
    await shows(page, 'Customer 02', '2 of 3')
    await canDecide(page)
    await press('a')
    const dialog = page.getByRole('alertdialog')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    await press('a')
    await dialog.getByRole('button', { name: 'Confirm each time' }).click()
    await dialog.getByRole('heading', { name: 'Approve this order?' }).waitFor()
    await press('Enter')
    await shows(page, 'Customer 03', '3 of 3')
    assert.equal((await storedOrder(service, scene.ids.get('Customer 02') ?? '')).status, 1)
    await canDecide(page)
    await page.getByRole('checkbox', { name: 'Confirm each decision' }).uncheck()
    await press('a')
    await page.getByText('You went through 3 orders. You approved 2.').waitFor()
    await areStored(scene, { 'Customer 03': 1 })
  })

  it('asks about confirmation only once the reason of a rejection is given', async () => {
    const scene = await aboutToReview(numbered(2))
    const { page, press } = scene
    await press('v')
    await canDecide(page)
    await press('r')
    await page.keyboard.type('No.')
    await press('Enter')
    await page.getByRole('button', { name: 'Reject without confirming' }).click()
    await shows(page, 'Customer 02', '2 of 2')
    await areStored(scene, { 'Customer 01': 2 })
  })

  it('decides one order with one key, however long it is held or however soon it is pressed again', async () => {
    const scene = await aboutToReview(numbered(5))
    const { page, press } = scene
    await press('v')
    await canDecide(page)
    await press('a')
    await page.getByRole('button', { name: 'Approve without confirming' }).click()
    await shows(page, 'Customer 02', '2 of 5')
    await canDecide(page)
    for (let repeat = 0; repeat < 10; repeat += 1) await page.keyboard.down('a')
    await page.keyboard.up('a')
    await shows(page, 'Customer 03', '3 of 5')
    await canDecide(page)
    await Promise.all([press('a'), press('a')])
    await shows(page, 'Customer 04', '4 of 5')
    await areStored(scene, { 'Customer 01': 1, 'Customer 02': 1, 'Customer 03': 1, 'Customer 04': 0 })
    // A key is too early for an order that has only just appeared.
    await page.evaluate(pressTwice)
    await shows(page, 'Customer 05', '5 of 5')
    const early = page.getByText('The order has only just appeared. Press a again to approve it.')
    await early.waitFor()
    await canDecide(page)
    assert.equal(await early.count(), 1)
    await press('a')
    await page.getByRole('heading', { name: 'End of the review' }).waitFor()
    await areStored(scene, { 'Customer 04': 1, 'Customer 05': 1 })
  })

  it('goes through the selected orders, and then through the skipped ones', async () => {
    const { page, path, press } = await aboutToReview(numbered(4))
    for (const customer of ['Customer 04', 'Customer 02']) {
      await page.getByRole('checkbox', { name: `Select ${customer}` }).click()
    }
    await page.getByRole('button', { name: 'Review selected' }).click()
    await shows(page, 'Customer 04', '1 of 2')
    await canDecide(page)
    await press('j')
    await shows(page, 'Customer 02', '2 of 2')
    await canDecide(page)
    await press('j')
    const end = page.getByText('You went through 2 orders. You skipped 2.')
    await end.waitFor()
    await press('k')
    await shows(page, 'Customer 02', '2 of 2')
    await canDecide(page)
    await press('j')
    await end.waitFor()
    await page.getByRole('link', { name: 'Review the 2 skipped' }).click()
    await shows(page, 'Customer 04', '1 of 2')
    assert.match(page.url(), /filter=status/)
    await page.getByRole('link', { name: 'Orders', exact: true }).last().click()
    await page.getByText('2 selected', { exact: true }).waitFor()
    await isAt(page, path)
  })

  it('asks before a withdrawal, whatever else it asks about', async () => {
    const creator = await newUser(service, { roles: ['Admin'] })
    const elsewhere = await signInElsewhere(service, creator)
    for (const customer of ['Dunnock 1', 'Dunnock 2', 'Dunnock 3']) await createdId(elsewhere, { customer })
    const page = await visit(person, creator, '/orders/review?filter=dunnock&orderBy=customer')
    const question = page.getByRole('alertdialog', { name: 'Withdraw this order?' })
    await page.getByRole('button', { name: 'Withdraw …' }).click()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'detached' })
    await canDecide(page)
    await page.keyboard.press('a')
    await page.getByRole('button', { name: 'Approve without confirming' }).click()
    await shows(page, 'Dunnock 2', '2 of 3')
    await page.getByRole('button', { name: 'Withdraw …' }).click()
    await question.getByRole('button', { name: 'Withdraw' }).click()
    await shows(page, 'Dunnock 3', '3 of 3')
    await page.getByRole('button', { name: 'Skip', exact: true }).click()
    await page.getByText('You went through 3 orders. You approved 1, withdrew 1 and skipped 1.').waitFor()
    await page.getByRole('link', { name: 'Review the one skipped' }).waitFor()
  })

  it('finds new orders on request, and says when there are none', async () => {
    const { page, ids, press, total } = await aboutToReview(['Acme'])
    await press('v')
    await shows(page, 'Acme', '1 of 1')
    await colleague.patch(`/v1/orders/${ids.get('Acme')}/approve`)
    await createdId(colleague, { customer: 'Basil', total })
    await seal(service.db)
    await page.getByText(/^Approved by [\w-]+, /).waitFor()
    await press('j')
    await page.getByText('You went through 1 order. You made no decisions.').waitFor()
    assert.equal(await page.getByRole('link', { name: /^Review the/ }).count(), 0)
    await page.getByRole('link', { name: 'Look for more' }).click()
    await shows(page, 'Basil', '1 of 1')
    await page.goto('/orders/review?filter=nobody')
    await page.getByRole('heading', { name: 'No orders to review' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Back' }).count(), 0)
  })

  it('shows nothing that does not help to decide: no duplicate, no time of another zone', async () => {
    const operator = await service.bearer('operator')
    operator.headers['time-zone'] = 'Asia/Tokyo'
    const id = await createdId(operator, { customer: 'Egret' })
    const left = [
      (page: Page) => page.getByRole('button', { name: 'Duplicate' }),
      (page: Page) => page.getByText('in Asia/Tokyo'),
    ]
    const page = await visit(person, 'admin', `/orders/${id}`)
    for (const part of left) await part(page).waitFor()
    await visit(person, 'admin', '/orders/review?filter=egret')
    await page.getByRole('button', { name: /^Approve/ }).waitFor()
    await screenshot(page, 'review-bare')
    for (const part of left) assert.equal(await part(page).count(), 0)
  })

  it('takes at most ten thousand orders, and says so', async () => {
    await insertOrders(service, latestFirst(Array.from({ length: 10_001 }, () => 'Sparrow')))
    person.expectFault(/ 400 .*paginated=false/)
    const page = await visit(person, 'admin', '/orders/review?filter=sparrow')
    await page.getByText('10,001 orders are too many for one review').waitFor()
    assert.equal(await page.getByRole('article').getAttribute('aria-busy'), 'false')
  })

  it('fits a phone, in the dark too, with a name of one long word and all its notes', async () => {
    const operator = await service.bearer('operator')
    for (const at of [1, 2])
      await createdId(operator, { customer: `Q${'w'.repeat(150)}${at}`, total: 99999999999.9999 })
    await person.page.setViewportSize({ width: 320, height: 640 })
    await person.page.emulateMedia({ colorScheme: 'dark' })
    const page = await visit(
      person,
      await newUser(service, { roles: ['Admin'] }),
      '/orders/review?filter=qwww',
    )
    await canDecide(page)
    await page.keyboard.press('a')
    await page.getByRole('button', { name: 'Approve without confirming' }).waitFor()
    await screenshot(page, 'review-phone-ask')
    await page.keyboard.press('Enter')
    await page.getByText('2 of 2', { exact: true }).waitFor()
    await page
      .getByText(/^Approving .*w….* \(/)
      .first()
      .waitFor()
    await canDecide(page)
    await page.keyboard.press('r')
    await page.getByLabel('Reason').waitFor()
    await checkAccessibility(page)
    await screenshot(page, 'review-phone-reason')
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    assert.equal(await page.evaluate(overflow), 0)
  })
})
