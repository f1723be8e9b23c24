import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import type { Locator, Page, Route } from 'playwright-core'
import type { NetworkState } from '../support/browser/network.ts'
import { visit } from '../support/browser/orders.ts'
import { openBrowser, type Person, signIn } from '../support/browser/person.ts'
import { brokenConnection } from '../support/browser/watch.ts'
import { passwordOf, startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ orders: true, clockRuns: true, until: { after } })

/** A view, with something in it that is requested from the service. */
interface View {
  name: string
  open(person: Person): Promise<void>
  ask(page: Page): Promise<unknown>
  /** The element that shows that the answer is slow. */
  slow(page: Page): Locator
  /** The input that the person must not lose. */
  entered?(page: Page): Promise<unknown>
  /** Asks again, if the app leaves that to the person. */
  askAgain?(page: Page): Promise<unknown>
  /** The answer as the view shows it. */
  answer(page: Page): Locator
}

async function openPendingOrder(person: Person): Promise<void> {
  const operator = await service.bearer('operator')
  const { body } = await operator.post('/v1/orders', { customer: `Customer ${randomUUID()}`, total: 12.5 })
  await visit(person, 'admin', `/orders/${body.id}`)
  await person.page.getByText('Created by').waitFor()
}

/** Loads the app. */
async function openList(person: Person): Promise<void> {
  await signIn(person, 'admin')
  await person.page.goto('/orders')
  await rowsShown(person.page, '1–25').waitFor()
}

const rowsShown = (page: Page, range: string) => page.getByText(new RegExp(`^${range} of `))
const dialogButton = (page: Page, name: string | RegExp) =>
  page.getByRole('alertdialog').getByRole('button', { name, exact: true })

let searches = 0

const views: View[] = [
  {
    name: 'the list',
    async open(person) {
      // No page of it is known yet.
      searches += 1
      await visit(person, 'admin', `/orders?filter=total%3E${searches}`)
      await rowsShown(person.page, '1–25').waitFor()
    },
    ask: (page) => page.getByRole('button', { name: 'Next page' }).click(),
    slow: (page) => page.getByText('Still searching …'),
    answer: (page) => rowsShown(page, '26–50'),
  },
  {
    name: 'creating',
    async open(person) {
      const { page } = person
      await visit(person, 'admin', '/orders/new')
      await page.getByLabel('Customer', { exact: true }).fill('Alder & Finch')
      await page.getByLabel('Total').fill('1250.5')
    },
    ask: (page) => page.getByRole('button', { name: 'Create order' }).click(),
    slow: (page) => page.getByText('This is taking longer than usual'),
    entered: (page) => page.getByLabel('Customer', { exact: true }).inputValue(),
    answer: (page) => page.getByRole('heading', { name: 'Alder & Finch' }),
  },
  {
    name: 'rejecting',
    async open(person) {
      await openPendingOrder(person)
      await person.page.getByRole('button', { name: 'Reject …' }).click()
      await person.page.getByLabel('Reason').fill('Ordered twice.')
    },
    ask: (page) => dialogButton(page, 'Reject').click(),
    slow: (page) => dialogButton(page, 'Rejecting …'),
    entered: (page) => page.getByLabel('Reason').inputValue(),
    answer: (page) => page.getByText('Rejected by'),
  },
]

const signingIn: View = {
  name: 'signing in',
  async open({ page }) {
    await page.goto('/orders')
    await page.getByLabel('Email').fill(passwordOf('viewer').email)
    await page.getByLabel('Password').fill(passwordOf('viewer').password)
  },
  ask: (page) => page.getByRole('button', { name: 'Sign in' }).click(),
  slow: (page) => page.getByRole('button', { name: 'Signing in …' }),
  entered: (page) => page.getByLabel('Email').inputValue(),
  // A password is sent only when the person presses the button.
  async askAgain(page) {
    await page.locator('button[type="submit"][aria-disabled="false"]').waitFor()
    await page.getByRole('button', { name: 'Sign in' }).click()
  },
  answer: (page) => rowsShown(page, '1–25'),
}

/** The file of all views of orders. */
const part = /\/assets\/orders-[\w-]{8}\.js$/

/** Resolves when that file has arrived. The app fetches it by itself soon after the list. */
const arrivalOf = (page: Page) => page.waitForEvent('requestfinished', (request) => part.test(request.url()))

interface Trouble {
  name: string
  state: NetworkState
  words: RegExp
  fault: RegExp
}

const troubles: Trouble[] = [
  {
    name: 'stopped',
    state: 'stopped',
    words: /^The service is not responding/,
    fault: brokenConnection,
  },
  {
    name: 'limiting',
    state: { answers: 'rate-limited', retryAfterSeconds: 2 },
    words: /^Too many (requests right now|attempts\.)/,
    fault: / 429 /,
  },
  {
    name: 'without its database',
    state: { answers: 'database-unavailable' },
    words: /^The service is unavailable right now/,
    fault: / 503 /,
  },
]

const inTurn = troubles.map(({ name }) => name).join(', then ')

const mark = (page: Page) => page.evaluate('globalThis.isSamePage = true')

async function assertSamePage(page: Page): Promise<void> {
  assert.equal(await page.evaluate('globalThis.isSamePage'), true, 'the page was loaded again')
}

async function loadsByItself(person: Person, view: View): Promise<void> {
  const { page, network, expectFault } = person
  await view.open(person)
  await mark(page)
  const entered = await view.entered?.(page)
  // So slow that no answer comes before the connection is lost.
  await network({ slowBySeconds: 60 })
  await view.ask(page)
  await view.slow(page).waitFor()
  for (const { state, words, fault } of troubles) {
    expectFault(fault)
    await network(state)
    if (state !== 'stopped') await view.askAgain?.(page)
    await page.getByText(words).first().waitFor()
    assert.deepEqual(await view.entered?.(page), entered)
  }
  await network('normal')
  await view.askAgain?.(page)
  await view.answer(page).waitFor()
  // The message closes with the dialog that it is in.
  for (const { words } of troubles) await page.getByText(words).first().waitFor({ state: 'detached' })
  await assertSamePage(page)
}

const title = `after a service that is slow, ${inTurn}, and the view reports each`

describe('what a user asked for loads by itself', { concurrency: 2 }, () => {
  describe('for a person who is signed in', { concurrency: false }, () => {
    const person = browser.stayingPerson({ service })
    for (const view of views) it(`${view.name}: ${title}`, () => loadsByItself(person, view))
  })

  describe('for a person who arrives', { concurrency: false }, () => {
    const person = browser.samePerson({ service })

    it(`signing in: ${title}`, () => loadsByItself(person, signingIn))

    it('the first page: shows the sign of the app before any script, and names each kind of trouble', async () => {
      const { page, network, expectFault } = person
      const scripts = Promise.withResolvers<void>()
      await page.route('**/assets/*.js', (route) => scripts.promise.then(() => route.continue()))
      await page.goto('/orders', { waitUntil: 'commit' })
      await page.getByRole('img', { name: 'Countersign' }).waitFor()
      await mark(page)
      for (const { state, words, fault } of troubles.slice(1)) {
        expectFault(fault)
        await network(state)
        scripts.resolve()
        await page.getByText(words).waitFor()
      }
      await network('normal')
      await rowsShown(page, '1–25').waitFor()
      await assertSamePage(page)
    })
  })
})

describe('a person whose connection to the service changes', () => {
  const person = browser.stayingPerson({ service })

  // One view that reads and two that change something: the app handles each kind in one place.
  for (const view of views) {
    it(`without a connection, ${view.name} says so, and continues as soon as it is back`, async () => {
      const { page, expectFault } = person
      await view.open(person)
      await mark(page)
      expectFault(/ERR_INTERNET_DISCONNECTED/)
      await page.context().setOffline(true)
      await view.ask(page)
      await page.getByText('You are offline').first().waitFor()
      await page.context().setOffline(false)
      await view.answer(page).waitFor()
      await assertSamePage(page)
    })
  }

  it('treats an error page of a proxy, with 502 or with 200, as no answer', async () => {
    const { page } = person
    await openList(person)
    person.expectFault(/ 502 /)
    const html = { contentType: 'text/html', body: '<h1>Bad gateway</h1>' }
    for (const [status, range] of [
      [502, '26–50'],
      [200, '51–75'],
    ] as const) {
      await page.route('**/v1/orders?**', (route) => route.fulfill({ ...html, status }))
      await page.getByRole('button', { name: 'Next page' }).click()
      await page.getByText('The service is not responding').waitFor()
      await page.unroute('**/v1/orders?**')
      await rowsShown(page, range).waitFor()
    }
  })

  const notThere = (route: Route) => route.fulfill({ status: 404, body: '' })

  async function openNewOrder(page: Page): Promise<void> {
    await page.getByRole('link', { name: 'New order' }).press('Enter')
  }

  it('has already loaded unused parts of the app when the service goes away', async () => {
    const { page, network, allowFault } = person
    const loaded = arrivalOf(page)
    await openList(person)
    await loaded
    // The view waits neither for the policy nor for a part of a font, which loads with its first character.
    allowFault(/ERR_CONNECTION_REFUSED .*(\.woff2|\/approval-policy)\)/)
    await network('stopped')
    await openNewOrder(page)
    await page.getByLabel('Customer', { exact: true }).fill('Alder & Finch')
    await network('normal')
  })

  it('waits for a part of the app that is not loaded yet while the service is away', async () => {
    const { page, origin, network, expectFault } = person
    await page.route(part, (route) => route.abort())
    await openList(person)
    expectFault(/ERR_(FAILED|CONNECTION_REFUSED)/)
    await network('stopped')
    await openNewOrder(page)
    await page.getByText('The service is not responding').waitFor()
    await page.unroute(part)
    await network('normal')
    await page.getByLabel('Customer', { exact: true }).waitFor()
    assert.equal(page.url(), `${origin}/orders/new`)
  })

  it('gets the new version when a part of the old one is gone', async () => {
    const { page, origin, expectFault } = person
    await page.route(part, notThere)
    await openList(person)
    expectFault(/ 404 .*\/assets\/orders-/)
    const reloaded = page.waitForRequest((request) => request.isNavigationRequest())
    await openNewOrder(page)
    assert.equal((await reloaded).url(), `${origin}/orders/new`)
    await page.unroute(part)
    await page.getByLabel('Customer', { exact: true }).waitFor()
  })

  it('is shown that a part of the app is missing, and the page does not reload in a loop', async () => {
    const { page, origin, expectFault } = person
    await page.route(part, notThere)
    await openList(person)
    expectFault(/ 404 .*\/assets\/orders-/)
    // It is an error of the app, and is reported as one.
    expectFault(/^uncaught: /)
    await openNewOrder(page)
    await page.getByText('This page could not be shown').waitFor()
    await page.getByRole('button', { name: 'Reload the page' }).waitFor()
    await mark(page)
    // The next check whether the app is there.
    await page.waitForResponse(`${origin}/`)
    await page.getByRole('link', { name: 'Orders', exact: true }).click()
    await rowsShown(page, '1–25').waitFor()
    await assertSamePage(page)
  })
})
