import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Page, Route } from 'playwright-core'
import { newUser, setPassword } from '../support/accounts.ts'
import {
  heading,
  hold,
  listRequests,
  signInByForm,
  waitForAddress,
  waitForFocus,
} from '../support/browser/journeys.ts'
import { eventually, visit } from '../support/browser/orders.ts'
import { openBrowser, type Person } from '../support/browser/person.ts'
import { brokenConnection } from '../support/browser/watch.ts'
import { firstPolicy, policyRow, putPolicy } from '../support/policy.ts'
import { addRole } from '../support/roles.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
const user = await newUser(service)

const customer = (page: Page) => page.getByLabel('Customer', { exact: true })
const total = (page: Page) => page.getByLabel('Total')
const create = (page: Page) => page.getByRole('button', { name: 'Create order' })

/** The customer's orders in the database: their totals and who created them. */
async function storedOrders(name: string) {
  const { read } = service.db
  const rows = await read.selectFrom('orders').selectAll().where('customer', '=', name).execute()
  return rows.map((row) => ({
    totalE4: Number(row.total_e4),
    by: row.created_by,
    zone: row.created_at_time_zone,
  }))
}

async function atTheForm(person: Person): Promise<Page> {
  const page = await visit(person, 'operator', '/orders/new')
  await waitForFocus(customer(page))
  return page
}

async function fill(page: Page, values: { customer: string; total: string }): Promise<void> {
  await customer(page).fill(values.customer)
  await total(page).fill(values.total)
}

describe('creating an order elsewhere', () => {
  const person = browser.samePerson({ service, timezone: 'Asia/Tokyo', locale: 'de-DE' })

  it('works by the keyboard alone, from anywhere, and leads to the order', async () => {
    const page = await visit(person, 'operator', '/orders')
    await page.keyboard.press('n')
    await waitForFocus(customer(page))
    await page.keyboard.type('Keyboard Kites')
    await page.keyboard.press('Tab')
    await waitForFocus(total(page))
    await page.keyboard.type('1250.5')
    await page.getByText('Means 1,250.50').first().waitFor()
    await page.keyboard.press('Enter')
    await waitForFocus(heading(page, 'Keyboard Kites'))
    await page.getByText(/^Order for \u2068Keyboard Kites\u2069 created$/).waitFor()
    assert.deepEqual(await storedOrders('Keyboard Kites'), [
      { totalE4: 12_505_000, by: 'operator', zone: 'Asia/Tokyo' },
    ])
    await page.goBack()
    await waitForAddress(person, '/orders')
    await page.getByRole('rowheader', { name: 'Keyboard Kites' }).waitFor()
  })

  it('accepts German decimals, shows them in English notation, and says what else they could mean', async () => {
    await person.page.keyboard.press('n')
    const { page } = person
    await waitForFocus(customer(page))
    await fill(page, { customer: 'Komma KG', total: '1.234' })
    await page.getByText('Means 1,234.00, not 1.234').first().waitFor()
    await create(page).click()
    await heading(page, 'Komma KG').waitFor()
    await page.getByText('1,234.00', { exact: true }).waitFor()
  })
})

describe('creating an order', () => {
  const person = browser.stayingPerson({ service })

  it('shows a broken rule at its field, and sends nothing', async () => {
    const page = await atTheForm(person)
    await page.getByText('Rule: one approval').waitFor()
    const requests = listRequests(page)
    await create(page).click()
    await waitForFocus(customer(page))
    await assertFault(customer(page), 'Enter the name of the customer.')
    await assertFault(total(page), 'Enter the total.')
    await fill(page, { customer: 'Rule Rockets', total: '1.23456' })
    await create(page).click()
    await waitForFocus(total(page))
    await assertFault(total(page), 'The total can have at most 4 decimal places.')
    await total(page).fill('0')
    await assertFault(total(page), 'The total must be greater than 0.')
    await customer(page).fill('x'.repeat(201))
    await assertFault(customer(page), 'The name can have at most 200 characters.')
    assert.deepEqual(requests, [])
    await page.getByRole('button', { name: 'Cancel' }).click()
    await heading(page, 'Orders').waitFor()
  })

  it('shows what the service rejects at the fields, until they are changed', async () => {
    const page = await atTheForm(person)
    await page.route('**/v1/orders', (route) => route.continue({ postData: '{"customer":" ","total":-1}' }))
    await fill(page, { customer: 'Refused Rugs', total: '5' })
    person.expectFault(/ 400 .*\/v1\/orders\)/)
    await create(page).click()
    await assertFault(customer(page), 'The customer must not be blank.')
    await assertFault(total(page), 'The total must be greater than 0.')
    await waitForFocus(customer(page))
    await page.unroute('**/v1/orders')
    await customer(page).fill('Refused Rugs & Sons')
    assert.equal(await customer(page).getAttribute('aria-invalid'), 'false')
    await create(page).click()
    await heading(page, 'Refused Rugs & Sons').waitFor()
    assert.equal((await storedOrders('Refused Rugs & Sons')).length, 1)
  })

  it('can be followed by another one in the empty form', async () => {
    const page = await atTheForm(person)
    const another = page.getByRole('button', { name: 'Create and start another' })
    for (const turn of [1, 2]) {
      await fill(page, { customer: 'Serial Saws', total: String(turn) })
      await another.click()
      await eventually(async () => assert.equal(await customer(page).inputValue(), ''))
      await page.getByText('Order for \u2068Serial Saws\u2069 created').waitFor()
      await waitForFocus(customer(page))
      assert.equal(await total(page).inputValue(), '')
    }
    await waitForAddress(person, '/orders/new')
    await fill(page, { customer: 'Serial Saws', total: '3' })
    await page.keyboard.press('Enter')
    await heading(page, 'Serial Saws').waitFor()
    const totals = (await storedOrders('Serial Saws')).map(({ totalE4 }) => totalE4 / 10_000)
    assert.deepEqual(totals.sort(), [1, 2, 3])
  })
})

/** The field itself says so: a screen reader reads it with the field. */
async function assertFault(field: ReturnType<Page['getByLabel']>, words: string): Promise<void> {
  const page = field.page()
  const [id] = ((await field.getAttribute('aria-describedby')) ?? '').split(' ')
  await page.locator(`#${id}`).getByText(words).waitFor()
  assert.equal(await field.getAttribute('aria-invalid'), 'true')
}

describe('the same order twice', () => {
  const person = browser.stayingPerson({ service })

  it('is pointed out, and Ctrl Enter creates it and starts another', async () => {
    const page = await atTheForm(person)
    await fill(page, { customer: 'Twice Tea', total: '7' })
    await page.keyboard.press('Control+Enter')
    await waitForFocus(customer(page))
    await fill(page, { customer: 'Twice Tea', total: '7.00' })
    await page.getByText(/^The same order was created just now: #\d+\.$/).waitFor()
    await total(page).fill('7.01')
    await page.getByText(/^The same order was created/).waitFor({ state: 'detached' })
    assert.equal((await storedOrders('Twice Tea')).length, 1)
  })
})

/** Each test repairs the network that it breaks. */
describe('exactly one order is created', () => {
  const person = browser.stayingPerson({ service })
  const posts = (requests: string[]) => requests.filter((request) => request === 'POST /v1/orders').length

  it('by a double click and repeated Enter, on a slow service', async () => {
    const page = await atTheForm(person)
    await fill(page, { customer: 'Double Doors', total: '7' })
    const release = await hold(page, '**/v1/orders')
    const requests = listRequests(page)
    await create(page).dblclick()
    await customer(page).focus()
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Creating …' }).waitFor()
    await release()
    await heading(page, 'Double Doors').waitFor()
    assert.equal(posts(requests), 1)
    assert.equal((await storedOrders('Double Doors')).length, 1)
  })

  it('when the answer is lost and the person stops and presses again', async () => {
    const page = await atTheForm(person)
    await fill(page, { customer: 'Stopped Stamps', total: '7' })
    await loseTheAnswer(person, 'Stopped Stamps')
    await page.getByRole('button', { name: 'Stop trying' }).click()
    await page.getByText(/You can safely send it again unchanged: there will be only one\./).waitFor()
    await waitForFocus(create(page))
    await person.network('normal')
    await create(page).click()
    await heading(page, 'Stopped Stamps').waitFor()
    assert.equal((await storedOrders('Stopped Stamps')).length, 1)
  })
})

/** The order is created, and the connection breaks before anyone gets the answer. */
async function loseTheAnswer(person: Person, name: string): Promise<void> {
  const { page } = person
  // Starts here and not earlier, because everything that the request needs has arrived by now.
  const handler = async (route: Route) => {
    await person.network({ slowBySeconds: 20 })
    await route.continue()
  }
  await page.route('**/v1/orders', handler, { times: 1 })
  await create(page).click()
  const deadline = performance.now() + 10_000
  while ((await storedOrders(name)).length === 0 && performance.now() < deadline) await pause(20)
  person.expectFault(brokenConnection)
  await person.network('stopped')
}

describe('what a person entered', () => {
  const person = browser.stayingPerson({ service })

  it('is still there after a visit to another view, and is dropped on Cancel', async () => {
    const page = await atTheForm(person)
    await fill(page, { customer: 'Look Lamps', total: '1' })
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Orders' }).click()
    await heading(page, 'Orders').waitFor()
    await page.getByRole('link', { name: 'New order' }).click()
    await page.getByText('This form is already filled in.').waitFor()
    assert.equal(await customer(page).inputValue(), 'Look Lamps')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await heading(page, 'Orders').waitFor()
    await page.getByRole('link', { name: 'New order' }).click()
    await waitForFocus(customer(page))
    assert.equal(await customer(page).inputValue(), '')
  })

  it('is kept when they learn on sending that the permission is gone', async () => {
    const page = await atTheForm(person)
    await fill(page, { customer: 'Demoted Desks', total: '1' })
    await person.network({ answers: 'permission-denied', paths: '/v1/orders' })
    person.expectFault(/ 403 .*\/v1\/orders\)/)
    // Looking for the same order is allowed no more, either.
    person.allowFault(/ 403 .*createdAtUtc/)
    await create(page).click()
    await page.getByText('You can no longer create orders').waitFor()
    assert.equal(await customer(page).inputValue(), 'Demoted Desks')
    await person.network('normal')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await heading(page, 'Orders').waitFor()
  })
})

describe('another person', () => {
  const person = browser.stayingPerson({ service })

  it('sees the rule of the policy for this total', async (t) => {
    t.after(() => putPolicy(service, firstPolicy))
    const rows = [policyRow(), policyRow({ from: 1_000, approvals: 2, selfApproval: false })]
    await putPolicy(service, rows)
    // Someone else loads the app, because a page keeps the rules.
    const page = await visit(person, user, '/orders/new')
    await fill(page, { customer: 'Next Nets', total: '999.99' })
    await page
      .getByText('Rule: one approval. Anyone who may approve can give it, also the creator.')
      .waitFor()
    const top = await create(page).boundingBox()
    await total(page).fill('1000')
    await page.getByText('Rule: two approvals, from anyone other than the creator.').waitFor()
    assert.deepEqual(await create(page).boundingBox(), top)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await heading(page, 'Orders').waitFor()
  })

  it('finds the form filled in after the end of the session, and it becomes one order', async () => {
    const page = await visit(person, user, '/orders/new')
    // The form asks by itself for similar orders: later, that would end the session before the press.
    const asked = page.waitForResponse(/\/v1\/orders\?.*createdAtUtc/)
    await fill(page, { customer: 'Draft Drums', total: '42.5' })
    await (await asked).finished()
    await setPassword(service, user)
    person.expectFault(/ 401 .*\/v1\/orders\)/)
    await create(page).click()
    await page.getByText('Your session has ended. Sign in to pick up where you left off.').waitFor()
    assert.equal((await storedOrders('Draft Drums')).length, 0)
    await signInByForm(page, user.credentials, page.getByText('This form is already filled in.'))
    await waitForAddress(person, '/orders/new')
    assert.equal(await customer(page).inputValue(), 'Draft Drums')
    assert.equal(await total(page).inputValue(), '42.5')
    await create(page).click()
    await heading(page, 'Draft Drums').waitFor()
    assert.equal((await storedOrders('Draft Drums')).length, 1)
  })
})

describe('a person who may create orders but not read them', () => {
  const person = browser.stayingPerson({ service })

  it('learns nothing about the policy', async () => {
    const creator = await newUser(service, { roles: [await addRole(service, 'Creator', ['Orders.Create'])] })
    const requests = listRequests(person.page)
    const page = await visit(person, creator, '/orders/new')
    await fill(page, { customer: 'Blind Blinds', total: '5' })
    await page.getByText('Means 5.00').first().waitFor()
    assert.equal(await page.getByText('Rule:').count(), 0)
    assert.ok(!requests.includes('GET /v1/approval-policy'), requests.join())
  })
})

describe('a person who may not create orders', () => {
  const person = browser.stayingPerson({ service })

  it('is offered no way to the form, and its address says why', async () => {
    const { page } = person
    for (const address of ['/', '/orders']) {
      await visit(person, 'viewer', address)
      assert.equal(await page.getByRole('link', { name: 'New order' }).count(), 0)
      await page.keyboard.press('n')
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
      await waitForAddress(person, address)
      await page.keyboard.press('Escape')
    }
    await visit(person, 'viewer', '/orders/new')
    await page.getByText('You cannot create orders').waitFor()
    assert.equal(await page.getByRole('textbox').count(), 0)
  })
})
