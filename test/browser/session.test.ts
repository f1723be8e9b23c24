import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Page, Route } from 'playwright-core'
import { grantRoles, newUser, setEnabled, setPassword, type TestUser } from '../support/accounts.ts'
import {
  heading,
  listRequests,
  nameCard,
  signInByForm,
  signInHeading,
  waitForAddress,
} from '../support/browser/journeys.ts'
import { eventually, visit } from '../support/browser/orders.ts'
import { openBrowser, screenshot } from '../support/browser/person.ts'
import { brokenConnection } from '../support/browser/watch.ts'
import { seal } from '../support/log.ts'
import { createdId } from '../support/orders.ts'
import { policyRow, putPolicy } from '../support/policy.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const refresh = 'POST /v1/auth/session/refresh'
const stillThere = (page: Page) => page.getByText('Still there?')
const signedOutWords = 'Your session has ended. Sign in to pick up where you left off.'

const service = await startService({ inside: true, clockRuns: true, until: { after } })
await createdId(await service.bearer('operator'), { customer: 'Protected Pencils' })

/** A list that grows with each request from now on. Requests that nobody asked for are marked `by itself`. */
function listAsked(page: Page): string[] {
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (!pathname.startsWith('/v1/')) return
    const isByItself = request.headers().background === '?1'
    asked.push(`${request.method()} ${pathname}${isByItself ? ' by itself' : ''}`)
  })
  return asked
}

const list = 'GET /v1/orders'

/** The form of an order asks for similar ones, and the list for itself, whenever they like. */
const withoutList = (requests: string[]) => requests.filter((request) => request !== list)

describe('a session', () => {
  const person = browser.samePerson({ service })
  let page: Page
  let user: TestUser

  /**
   * The clock of the page runs by itself and moves as the tests say. All but the last test end at the list,
   * signed in.
   */
  before(async () => {
    page = person.page
    user = await newUser(service, { roles: ['Viewer'] })
    await page.clock.install()
    await page.goto('/orders')
    await signInHere()
  })

  async function signInHere(): Promise<void> {
    await signInByForm(page, user.credentials, page.getByText('Protected Pencils'))
    await page.waitForLoadState('networkidle')
  }

  async function backToTheOrders(): Promise<void> {
    await page.getByRole('link', { name: 'Orders', exact: true }).first().click()
    await page.getByText('Protected Pencils').waitFor()
    await page.waitForLoadState('networkidle')
  }

  it('is refreshed by use, at most once in five minutes', async (t) => {
    const requests = listRequests(page)
    for (const [what, act] of [
      ['a key', () => page.keyboard.press('Shift')],
      ['the pointer', () => page.mouse.click(640, 790)],
      ['the wheel', () => page.mouse.wheel(0, 10)],
    ] as const) {
      await t.test(`by ${what}`, async () => {
        requests.length = 0
        await act()
        await page.clock.fastForward('04:00')
        await act()
        await page.waitForLoadState('networkidle')
        assert.deepEqual(requests, [])
        await page.clock.fastForward('01:10')
        const refreshed = page.waitForResponse('**/v1/auth/me/permissions')
        await act()
        await (await refreshed).finished()
        await act()
        await page.waitForLoadState('networkidle')
        assert.deepEqual(requests, [refresh, 'GET /v1/auth/me/permissions'])
      })
    }
  })

  it('warns two minutes before it ends for lack of use, and can be prolonged', async () => {
    const row = page.getByRole('row').filter({ hasText: 'Protected Pencils' })
    const place = await row.boundingBox()
    assert.ok(place)
    const requests = listRequests(page)
    await page.clock.fastForward('27:30')
    assert.equal(await stillThere(page).count(), 0)
    await page.clock.fastForward('00:40')
    await stillThere(page).waitFor()
    assert.deepEqual(await row.boundingBox(), place, 'nothing moves')
    await page.getByRole('button', { name: 'Stay signed in' }).click()
    await stillThere(page).waitFor({ state: 'detached' })
    assert.equal(requests.filter((request) => request === refresh).length, 1)
    await page.clock.fastForward('27:00')
    assert.equal(await stillThere(page).count(), 0)
    await page.getByText('Protected Pencils').waitFor()
  })

  it('shows nothing after its end, with or without a network', async () => {
    await setPassword(service, user)
    await person.network('stopped')
    person.expectFault(brokenConnection)
    await page.clock.fastForward('30:01')
    await page.getByText(signedOutWords).waitFor()
    assert.equal(await page.getByText('Protected Pencils').count(), 0)
    await person.network('normal')
    await signInHere()
    await waitForAddress(person, '/orders')
  })

  it('has the permissions of a new role after its next refresh', async () => {
    const create = page.getByRole('link', { name: 'New order' })
    assert.equal(await create.count(), 0)
    await grantRoles(service, user, ['Operator'])
    await page.clock.fastForward('06:00')
    await page.keyboard.press('Shift')
    await create.waitFor()
    await page.getByText('Protected Pencils').waitFor()
  })

  /**
   * Sorts by customer, and ends the session before the service gets the request. The live list may notice the
   * end first.
   */
  async function sortAtTheEnd(end: () => Promise<unknown>): Promise<void> {
    const ended = Promise.withResolvers<void>()
    const held = async (route: Route) => {
      await ended.promise
      await route.continue().catch(() => undefined)
    }
    await page.route(/\/v1\/orders\?/, held)
    person.expectFault(/ 401 .*\/v1\/orders[?/]/)
    await page.getByRole('button', { name: 'Customer' }).click()
    await waitForAddress(person, '/orders?orderBy=customer')
    await end()
    ended.resolve()
    await page.unroute(/\/v1\/orders\?/)
  }

  it('leads to the sign-in at the next request if the service has ended it, and back again', async () => {
    await page.getByRole('button', { name: 'Total' }).click()
    await waitForAddress(person, '/orders?orderBy=total&order=Desc')
    await page.waitForLoadState('networkidle')
    await sortAtTheEnd(() => setPassword(service, user))
    await page.getByText(signedOutWords).waitFor()
    assert.equal(await page.getByText('Protected Pencils').count(), 0)
    await signInHere()
    await waitForAddress(person, '/orders?orderBy=customer')
  })

  it('reports an antiforgery token that is refused twice, and fetches no further one', async () => {
    await page.getByRole('link', { name: 'New order' }).click()
    await page.getByLabel('Customer').fill('Antiforgery Anvils')
    await page.getByLabel('Total').fill('1')
    await person.network({ answers: 'csrf-token-invalid', paths: '/v1/orders' })
    const requests = listRequests(page)
    person.expectFault(/ 403 .*\/v1\/orders[?)]/)
    await page.getByRole('button', { name: 'Create order' }).click()
    await page
      .getByRole('form')
      .getByText(/antiforgery/i)
      .first()
      .waitFor()
    assert.deepEqual(withoutList(requests), ['POST /v1/orders', 'GET /v1/auth/csrf', 'POST /v1/orders'])
    await person.network('normal')
    await page.getByRole('button', { name: 'Create order' }).click()
    await heading(page, 'Antiforgery Anvils').waitFor()
    await backToTheOrders()
  })

  it('is not prolonged by retries, nor by what is fetched when the person returns to the window', async () => {
    await person.network({ answers: 'overloaded', paths: '/v1/orders' })
    person.expectFault(/ 503 /)
    const asked = listAsked(page)
    await page.getByRole('button', { name: 'Total' }).click()
    await eventually(() => assert.equal(asked[0], list))
    await page.clock.fastForward('00:02')
    await eventually(() => assert.equal(asked[1], `${list} by itself`))
    await person.network('normal')
    await page.clock.fastForward('00:10')
    await page.getByText('The service is unavailable right now').waitFor({ state: 'detached' })
    await page.waitForLoadState('networkidle')
    asked.length = 0
    await page.clock.fastForward('00:30')
    await page.evaluate('dispatchEvent(new Event("visibilitychange"))')
    const all = ['GET /v1/auth/absence by itself', `${list} by itself`, 'GET /v1/views by itself']
    await eventually(() => assert.deepEqual(asked.toSorted(), all))
  })

  it('is prolonged by a page that someone opens', async () => {
    const asked = listAsked(page)
    await page.reload()
    await page.getByText('Protected Pencils').waitFor()
    await page.waitForLoadState('networkidle')
    assert.ok(asked.includes(list) && !asked.includes(`${list} by itself`))
  })

  it('cannot be renewed for a disabled user', async () => {
    await sortAtTheEnd(() => setEnabled(service, user, false))
    await page.getByText(signedOutWords).waitFor()
    person.expectFault(/ 401 .*\/v1\/auth\/session\)/)
    await signInByForm(page, user.credentials, page.getByText('Wrong email or password.'))
    assert.equal(await page.getByText('Protected Pencils').count(), 0)
  })
})

describe('a short session', () => {
  it('is not kept alive by the app’s own requests, which do not delay its warning either', async (t) => {
    const short = await startService({ env: { SESSION_IDLE_TTL_SECONDS: '16' }, clockRuns: true })
    const operator = await short.bearer('operator')
    await createdId(operator, { customer: 'Acme' })
    const user = await newUser(short, { roles: ['Admin'] })
    const { page } = await browser.person(t, { service: short, isLive: true })
    t.after(() => short.close())
    await page.goto('/orders')
    await signInByForm(page, user.credentials, page.getByText('Acme'))
    const asked = listAsked(page)
    const startedAt = performance.now()
    for (let order = 0; order < 10; order += 1) {
      await pause(startedAt + (order + 1) * 500 - performance.now())
      // The app counts what waits.
      await createdId(operator)
      await seal(short.db)
    }
    // A quarter of its life before its end: 12 s after the start, or 17 s if the last of these had counted
    // as use.
    await stillThere(page).waitFor({ timeout: startedAt + 16_000 - performance.now() })
    assert.ok(asked.filter((request) => request.endsWith('by itself')).length > 1, asked.join())
    await page.getByText(signedOutWords).waitFor()
    assert.ok(performance.now() - startedAt < 20_000)
  })
})

describe('a person at a tab', () => {
  const person = browser.samePerson({ service })

  it('is warned five minutes before the absolute end of the session', async () => {
    const { page } = person
    const { sessionAbsoluteTtlSeconds } = service.config
    Object.assign(service.config, { sessionAbsoluteTtlSeconds: 303 })
    await visit(person, await newUser(service, { roles: ['Admin'] }), '/approval-policy')
    Object.assign(service.config, { sessionAbsoluteTtlSeconds })
    await page.getByText(/^Your session ends at \d+:\d\d\s[AP]M\.$/).waitFor()
    await page.getByText('Finish what you are doing, then sign out and back in.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Stay signed in' }).count(), 0)
    await screenshot(page, 'session-end-notice')
  })

  it('is not shown a late answer to the one before', async () => {
    const { page } = person
    const next = await newUser(service, { roles: ['Admin'] })
    const [sent, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/v1/approval-policy', async (route) => {
      if (route.request().method() === 'GET') return route.continue()
      sent.resolve()
      await released.promise
      await route.fulfill({ status: 204, headers: { etag: '"9"' } })
    })
    await page.getByLabel('Services may approve').uncheck()
    const answered = page.waitForResponse((answer) => answer.request().method() === 'PUT')
    await page.getByRole('button', { name: 'Save policy' }).click()
    await sent.promise
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signInHeading(page).waitFor()
    // The overview reads the policy as well.
    await putPolicy(service, [policyRow({ approvals: 3 })])
    await signInByForm(page, next.credentials, nameCard(page, next.userName))
    const policy = page.getByRole('link', { name: 'Settings' })
    await policy.click()
    const approvals = page.getByLabel('Approvals', { exact: true })
    await approvals.waitFor()
    assert.equal(await approvals.inputValue(), '3')
    released.resolve()
    await (await answered).finished()
    await page.keyboard.press('h')
    await waitForAddress(person, '/')
    await policy.click()
    await approvals.waitFor()
    assert.equal(await approvals.inputValue(), '3')
    await page.unroute('**/v1/approval-policy')
  })

  // It takes the clock of the page.
  it('does not send what the one before tried', async () => {
    const { page } = person
    const [one, next] = [await newUser(service), await newUser(service, { roles: ['Admin'] })]
    const path = '/v1/orders'
    const refused = () =>
      page.waitForResponse((answer) => answer.request().method() === 'POST' && answer.status() === 429)
    await page.clock.install()
    await visit(person, one, '/orders/new')
    await page.getByLabel('Customer', { exact: true }).fill('Handed Hammers')
    await page.getByLabel('Total').fill('5')
    // Any request may be about similar orders.
    await person.network({ answers: 'rate-limited', retryAfterSeconds: 60, paths: path })
    person.allowFault(/ 429 /)
    const create = page.getByRole('button', { name: 'Create order' })
    const [first] = await Promise.all([refused(), create.click()])
    await first.finished()
    await page.getByText('Too many requests').first().waitFor()
    const [second] = await Promise.all([refused(), page.clock.fastForward('01:01')])
    await second.finished()
    await person.network('normal')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Discard' }).click()
    await signInHeading(page).waitFor()
    await signInByForm(page, next.credentials, nameCard(page, next.userName))
    const requests = listRequests(page)
    await page.clock.fastForward('02:00')
    // A request that is made now would come after it.
    await page.getByRole('link', { name: 'Orders', exact: true }).click()
    await page.getByText('Protected Pencils').waitFor()
    assert.ok(requests.includes(list))
    assert.ok(!requests.includes(`POST ${path}`), requests.join())
  })
})
