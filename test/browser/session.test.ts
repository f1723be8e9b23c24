import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { machineStamp } from '../../server/audit/stamp.ts'
import { newUser, type TestUser } from '../support/accounts.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import {
  endSessions,
  heading,
  listRequests,
  signInByForm,
  waitForAddress,
} from '../support/browser/journeys.ts'
import { eventually } from '../support/browser/orders.ts'
import { openBrowser, type Person, screenshot, sideBySide } from '../support/browser/person.ts'
import { brokenConnection } from '../support/browser/watch.ts'
import { createdId } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const refresh = 'POST /v1/auth/session/refresh'
const stillThere = (page: Page) => page.getByText('Still there?')
const signedOutWords = 'Your session has ended. Sign in to pick up where you left off.'

const service = await startService({ clockRuns: true })
after(() => service.close())
await createdId(await service.bearer('operator'), { customer: 'Protected Pencils' })

/** Somebody at the list of orders whose clock goes on as the test says (and by itself). */
async function atTheOrders(
  t: TestContext,
  roles = ['Operator'],
): Promise<{ person: Person; user: TestUser }> {
  const user = await newUser(service, { roles })
  const person = await browser.person(t, { service })
  const { page } = person
  await page.clock.install()
  await page.goto('/orders')
  await signInByForm(page, user.credentials, page.getByText('Protected Pencils'))
  await page.waitForLoadState('networkidle')
  return { person, user }
}

describe('a session that nobody uses', sideBySide, () => {
  it('is told of two minutes before its end, and lives on when asked to', async (t) => {
    const { person } = await atTheOrders(t)
    const { page } = person
    await page.clock.fastForward('27:30')
    assert.equal(await stillThere(page).count(), 0)
    await page.clock.fastForward('00:40')
    await stillThere(page).waitFor()
    const requests = listRequests(page)
    await page.getByRole('button', { name: 'Stay signed in' }).click()
    await stillThere(page).waitFor({ state: 'detached' })
    assert.equal(requests.filter((request) => request === refresh).length, 1)
    await page.clock.fastForward('27:00')
    assert.equal(await stillThere(page).count(), 0)
    await page.getByText('Protected Pencils').waitFor()
  })

  it('is told over the page: nothing moves, and no other row comes under a pointer that rests', async (t) => {
    const { person } = await atTheOrders(t)
    const { page } = person
    const row = page.getByRole('row').filter({ hasText: 'Protected Pencils' })
    const place = await row.boundingBox()
    assert.ok(place)
    await page.mouse.move(place.x + 300, place.y - 2)
    const requests = listRequests(page)
    await page.clock.fastForward('28:30')
    await stillThere(page).waitFor()
    assert.deepEqual(await row.boundingBox(), place)
    // As when the page moves under the pointer: it enters the row, and no hand moved it.
    await row.dispatchEvent('mouseover')
    await row.dispatchEvent('pointermove', { pointerType: 'mouse', movementX: 0, movementY: 0 })
    await page.clock.fastForward('00:05')
    await page.waitForLoadState('networkidle')
    assert.deepEqual(requests, [])
  })

  it('shows nothing any more after its end, whether the network is there or not', async (t) => {
    const { person, user } = await atTheOrders(t)
    const { page } = person
    await endSessions(service, user)
    await person.network('stopped')
    person.expectFault(brokenConnection)
    await page.clock.fastForward('30:01')
    await page.getByText(signedOutWords).waitFor()
    assert.equal(await page.getByText('Protected Pencils').count(), 0)
    await person.network('normal')
    await signInByForm(page, user.credentials, page.getByText('Protected Pencils'))
    await waitForAddress(person, '/orders')
  })
})

describe('a session that somebody uses', sideBySide, () => {
  it('is refreshed at most once in five minutes', async (t) => {
    const { page } = (await atTheOrders(t)).person
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

  it('has the permissions of a new role after the next refresh', async (t) => {
    const { person, user } = await atTheOrders(t, ['Viewer'])
    const { page } = person
    const create = page.getByRole('link', { name: 'New order' })
    assert.equal(await create.count(), 0)
    await service.db.write('grantRoles', {
      account: user.account,
      roles: ['Operator'],
      stamp: machineStamp(service.now()),
    })
    await page.clock.fastForward('06:00')
    await page.keyboard.press('Shift')
    await create.waitFor()
    await page.getByText('Protected Pencils').waitFor()
  })
})

describe('what the app asks by itself', sideBySide, () => {
  it('keeps no session alive, and makes no notice of its end later', async (t) => {
    const short = await startService({ env: { SESSION_IDLE_TTL_SECONDS: '16' }, clockRuns: true })
    const operator = await short.bearer('operator')
    for (let order = 0; order < 10; order += 1) await createdId(operator, { customer: `Acme ${order}` })
    const user = await newUser(short)
    const { page } = await browser.person(t, { service: short })
    t.after(() => short.close())
    await page.goto('/orders')
    await signInByForm(page, user.credentials, page.getByText('Acme 0'))
    const asked = listAsked(page)
    const startedAt = performance.now()
    for (let order = 0; order < 10; order += 1) {
      await pause(startedAt + (order + 1) * 500 - performance.now())
      await page.getByRole('link', { name: `Acme ${order}` }).hover()
    }
    // A quarter of its life before its end: 12 s after the start, and 17 if the last of these had been a use.
    await stillThere(page).waitFor({ timeout: startedAt + 16_000 - performance.now() })
    // The last of them was asked for a moment ago.
    await eventually(() => assert.equal(asked.filter((request) => request.endsWith('by itself')).length, 10))
    await page.getByText(signedOutWords).waitFor()
    assert.ok(performance.now() - startedAt < 20_000)
  })

  /** Grows: what is asked from now on, with `by itself` where the request says so. */
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

  it('says so: what is fetched ahead, but not the page that somebody opens', async (t) => {
    const { person } = await atTheOrders(t)
    const { page } = person
    const asked = listAsked(page)
    await page.reload()
    await page.getByText('Protected Pencils').waitFor()
    await page.waitForLoadState('networkidle')
    assert.ok(asked.includes(list) && !asked.includes(`${list} by itself`))
    asked.length = 0
    await page.keyboard.press('Shift')
    await page.getByRole('link', { name: 'Protected Pencils' }).hover()
    await page.mouse.move(700, 300)
    await page.getByRole('link', { name: 'Protected Pencils' }).hover()
    await eventually(() => assert.match(asked.join(), /^GET \/v1\/orders\/[\da-f-]{36} by itself$/))
  })

  it('says so: what is tried again, and what is looked at when the window is back', async (t) => {
    const { person } = await atTheOrders(t)
    const { page } = person
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
    const both = [`${list} by itself`, 'GET /v1/views by itself']
    await eventually(() => assert.deepEqual(asked.toSorted(), both))
  })
})

describe('a session that the service has ended', sideBySide, () => {
  it('leads to sign-in at the next request, and back to where one was', async (t) => {
    const { person, user } = await atTheOrders(t)
    const { page } = person
    await page.getByRole('button', { name: 'Total' }).click()
    await waitForAddress(person, '/orders?orderBy=total&order=Desc')
    await page.waitForLoadState('networkidle')
    await endSessions(service, user)
    person.expectFault(/ 401 .*\/v1\/orders\?/)
    await page.getByRole('button', { name: 'Customer' }).click()
    await page.getByText(signedOutWords).waitFor()
    assert.equal(await page.getByText('Protected Pencils').count(), 0)
    await checkAccessibility(page)
    await signInByForm(page, user.credentials, page.getByText('Protected Pencils'))
    await waitForAddress(person, '/orders?orderBy=customer')
  })

  it('of somebody who has been disabled cannot be begun again', async (t) => {
    const { person, user } = await atTheOrders(t)
    const { page } = person
    await service.db.write('setAccountEnabled', {
      account: user.account,
      enabled: false,
      stamp: machineStamp(service.now()),
    })
    person.expectFault(/ 401 .*\/v1\/orders\?/)
    await page.getByRole('button', { name: 'Customer' }).click()
    await page.getByText(signedOutWords).waitFor()
    person.expectFault(/ 401 .*\/v1\/auth\/session\)/)
    await signInByForm(page, user.credentials, page.getByText('Wrong email or password.'))
    assert.equal(await page.getByText('Protected Pencils').count(), 0)
  })
})

describe('a session at its end', sideBySide, () => {
  it('tells five minutes before that it ends in any case', async (t) => {
    const short = await startService({ env: { SESSION_ABSOLUTE_TTL_SECONDS: '303' }, clockRuns: true })
    const user = await newUser(short)
    const person = await browser.person(t, { service: short })
    t.after(() => short.close())
    const { page } = person
    await page.goto('/orders')
    await signInByForm(page, user.credentials, heading(page, 'Orders'))
    const words = page.getByText(/^Your session ends at \d+:\d\d\s[AP]M\.$/)
    await words.waitFor()
    await page.getByText('Finish what you are doing, then sign out and back in.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Stay signed in' }).count(), 0)
    await checkAccessibility(page)
    await screenshot(page, 'session-end-notice')
  })
})

describe('an antiforgery token that the service refuses', sideBySide, () => {
  it('is fetched anew by itself, and what was pressed succeeds', async (t) => {
    const { person } = await atTheOrders(t)
    const { page } = person
    await page.getByRole('link', { name: 'New order' }).click()
    await page.getByLabel('Customer').fill('Antiforgery Anvils')
    await page.getByLabel('Total').fill('1')
    // As after a start with another key.
    service.antiforgeryKey.fill(7)
    const requests = listRequests(page)
    person.expectFault(/ 403 .*\/v1\/orders\)/)
    await page.getByRole('button', { name: 'Create order' }).click()
    await heading(page, 'Antiforgery Anvils').waitFor()
    assert.deepEqual(requests.slice(0, 3), ['POST /v1/orders', 'GET /v1/auth/csrf', 'POST /v1/orders'])
  })

  it('and refused once more is told, and not asked for again and again', async (t) => {
    const { person } = await atTheOrders(t)
    const { page } = person
    await page.getByRole('link', { name: 'New order' }).click()
    await page.getByLabel('Customer').fill('Antiforgery Anvils')
    await page.getByLabel('Total').fill('1')
    await person.network({ answers: 'csrf-token-invalid', paths: '/v1/orders' })
    const requests = listRequests(page)
    person.expectFault(/ 403 .*\/v1\/orders\)/)
    await page.getByRole('button', { name: 'Create order' }).click()
    await page
      .getByRole('form')
      .getByText(/antiforgery/i)
      .first()
      .waitFor()
    assert.deepEqual(requests, ['POST /v1/orders', 'GET /v1/auth/csrf', 'POST /v1/orders'])
    await person.network('normal')
    await page.getByRole('button', { name: 'Create order' }).click()
    await heading(page, 'Antiforgery Anvils').waitFor()
  })
})
