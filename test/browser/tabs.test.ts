import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { newUser, type TestUser } from '../support/accounts.ts'
import {
  heading,
  hold,
  keepDrawings,
  listRequests,
  nameCard,
  signInByForm,
  signInHeading,
  takeDrawings,
} from '../support/browser/journeys.ts'
import { openBrowser, signIn } from '../support/browser/person.ts'
import { createdId } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
await createdId(await service.bearer('operator'), { customer: 'Protected Pencils' })

async function signOut(tab: Page): Promise<void> {
  await tab.getByRole('button', { name: 'Sign out' }).click()
  await signInHeading(tab).waitFor()
}

const textOf = (tab: Page) => tab.evaluate<string>('document.body.textContent')
const isAboutOrders = (request: string) => request.includes('/v1/orders')

describe('two tabs of one browser', () => {
  const person = browser.samePerson({ service })
  let first: Page
  let second: Page
  before(async () => {
    first = person.page
    second = await first.context().newPage()
    await keepDrawings(second)
  })

  /** Someone is signed in and sees the list in the first tab. The second tab shows the address. */
  async function openTabs(address: string, roles = ['Operator']): Promise<TestUser> {
    const user = await newUser(service, { roles })
    await signIn(person, user)
    await first.goto('/orders')
    await first.getByText('Protected Pencils').waitFor()
    await second.goto(address)
    await nameCard(second, user.userName).waitFor()
    await second.waitForLoadState('networkidle')
    return user
  }

  it('of one person sign out together, the second without a request, and return to where each was', async () => {
    const user = await openTabs('/orders?pageSize=50')
    // The last thing that the page draws by itself.
    await second
      .getByRole('status')
      .getByText(/^\d+ orders?$/)
      .waitFor({ state: 'attached' })
    const requests = listRequests(second)
    await takeDrawings(second)
    await signOut(first)
    await second.getByText('You were signed out in another tab.').waitFor()
    assert.deepEqual(requests, [])
    const drawings = await takeDrawings(second)
    assert.doesNotMatch(drawings, new RegExp(`Protected Pencils|${user.userName}`))
    await signInByForm(first, user.credentials, first.getByText('Protected Pencils'))
    await second.getByText('Protected Pencils').waitFor()
    assert.match(second.url(), /\/orders\?pageSize=50$/)
  })

  // It begins with what the test before leaves, and so does the next one.
  it('of one person both show an order that one of them creates', async () => {
    await first.getByRole('link', { name: 'New order' }).click()
    await first.getByLabel('Customer').fill('Tandem Teapots')
    await first.getByLabel('Total').fill('12')
    await first.getByRole('button', { name: 'Create order' }).click()
    await heading(first, 'Tandem Teapots').waitFor()
    await second.getByRole('rowheader', { name: 'Tandem Teapots' }).waitFor()
  })

  it('of one person stay signed out, even if an earlier request is answered after that', async () => {
    const release = await hold(first, '**/v1/auth/me')
    const tell = (kind: string) =>
      second.evaluate(`new BroadcastChannel('countersign').postMessage({ kind: '${kind}' })`)
    const asked = first.waitForRequest('**/v1/auth/me')
    await tell('signed-in')
    await asked
    await tell('signed-out')
    await first.getByText('You were signed out in another tab.').waitFor()
    const answered = first.waitForResponse('**/v1/auth/me')
    await release()
    await (await answered).finished()
    // Any change that the answer caused would be drawn in the next frames.
    await first.evaluate('new Promise((resolve) => setTimeout(resolve, 300))')
    assert.equal(await signInHeading(first).isVisible(), true)
  })

  it('keep nothing of the first person for another one who signs in', async () => {
    const user = await openTabs('/orders/new', ['Admin'])
    const next = await newUser(service, { roles: ['Operator'] })
    await second.getByLabel('Customer').fill('Secret Sausages')
    await second.getByLabel('Total').fill('4711')
    await signOut(first)
    await signInHeading(second).waitFor()
    const requests = listRequests(first)
    await takeDrawings(second)
    await signInByForm(first, next.credentials, first.getByText('Protected Pencils'))
    await nameCard(second, next.userName).waitFor()
    await second.getByLabel('Customer').waitFor()
    assert.equal(await second.getByLabel('Customer').inputValue(), '')
    assert.equal(await second.getByLabel('Total').inputValue(), '')
    const traces = new RegExp(`${user.userName}|Secret Sausages|4711|Admin`)
    assert.doesNotMatch(await takeDrawings(second), traces)
    assert.doesNotMatch(await textOf(first), traces)
    assert.equal(await first.getByRole('checkbox').count(), 0)
    assert.ok(requests.some(isAboutOrders), 'the orders that the first one fetched are not shown to the next')
    await second.goBack()
    await first.goBack()
    for (const tab of [first, second]) {
      assert.doesNotMatch(await textOf(tab), new RegExp(`${user.userName}|Secret Sausages`))
    }
  })

  it('both belong to the person who signs in while another is signed in', async () => {
    const user = await openTabs('/orders/new', ['Admin'])
    const next = await newUser(service, { roles: ['Admin'] })
    await first.getByRole('checkbox', { name: /^Select Protected/ }).click()
    await first.getByText('1 selected').waitFor()
    await second.getByLabel('Customer').fill('Secret Sausages')
    // A third tab whose session the clock of the service has forgotten in the meantime.
    const third = await first.context().newPage()
    await third.route('**/v1/auth/me', (route) => route.fulfill(unauthenticated))
    person.expectFault(/ 401 .*\/v1\/auth\/me\)/)
    await third.goto('/orders')
    await signInHeading(third).waitFor()
    await third.unroute('**/v1/auth/me')
    const requests = listRequests(first)
    await signInByForm(third, next.credentials, third.getByText('Protected Pencils'))
    for (const tab of [first, second]) await nameCard(tab, next.userName).waitFor()
    await first.getByText('Protected Pencils').waitFor()
    assert.ok(requests.some(isAboutOrders), 'the orders that the first one fetched are not shown to the next')
    await first.getByText('1 selected').waitFor({ state: 'detached' })
    assert.equal(await second.getByLabel('Customer').inputValue(), '')
    for (const tab of [first, second]) {
      assert.doesNotMatch(await textOf(tab), new RegExp(`${user.userName}|Secret Sausages`))
    }
    await third.close()
  })

  it('of one person prolong the session for each other: the warning disappears in both', async () => {
    const { clock } = first.context()
    await clock.install()
    await openTabs('/orders')
    await clock.fastForward('28:30')
    const notices = [first.getByText('Still there?'), second.getByText('Still there?')]
    for (const notice of notices) await notice.waitFor()
    const requests = listRequests(second)
    await first.getByRole('button', { name: 'Stay signed in' }).click()
    for (const notice of notices) await notice.waitFor({ state: 'detached' })
    assert.deepEqual(requests, [])
  })
})

const unauthenticated = {
  status: 401,
  contentType: 'application/problem+json',
  body: JSON.stringify({ status: 401, code: 'authentication-required', title: '', detail: '' }),
}
