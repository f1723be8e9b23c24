import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { newUser, signIn as signInElsewhere } from '../support/accounts.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { listRequests, nameCard, signInByForm } from '../support/browser/journeys.ts'
import { customersOf, eventually, focuses, linkOf, searchBox, visit } from '../support/browser/orders.ts'
import { openBrowser } from '../support/browser/person.ts'
import { brokenConnection } from '../support/browser/watch.ts'
import type { Client } from '../support/client.ts'
import { seal } from '../support/log.ts'
import { createdId } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const stream = 'GET /v1/orders/events'
const service = await startService({ clockRuns: true, until: { after } })
const operator = await service.bearer('operator')

const row = (page: Page, customer: string) => page.getByRole('row').filter({ hasText: customer })
const loadAnew = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

describe('the live list in the web app', () => {
  const person = browser.samePerson({ service, isLive: true })
  let page: Page
  let colleague: Client
  let name: string
  before(async () => {
    page = person.page
    const user = await newUser(service, { roles: ['Admin'] })
    name = user.userName
    colleague = await signInElsewhere(service, user)
  })

  let totals = 100

  /**
   * The person watches three new orders, whose total no other test uses, at this address. Returns their ids.
   */
  async function atWork(path: (total: number, ids: string[]) => string): Promise<string[]> {
    totals += 1
    const ids = []
    for (const customer of ['Acme', 'Basil', 'Cedar'])
      ids.push(await createdId(operator, { customer, total: totals }))
    await seal(service.db)
    // Ends the connection of the previous page.
    await page.goto('about:blank')
    const listening = page.waitForResponse(/\/v1\/orders\/events/)
    await visit(person, 'admin', path(totals, ids))
    await listening
    return ids
  }

  const ofTotal = (total: number) => `/orders?filter=total%3D${total}`

  const waiting = async () => Number(/^\((\d+)\)/.exec(await page.title())?.[1])

  it('announces new orders, and loads them on request', async (t) => {
    await atWork(() => '/orders')
    await linkOf(page, 'Cedar').waitFor()
    await eventually(async () => assert.match(await page.title(), /^\(3\) Orders/))
    await createdId(colleague, { customer: 'Dill' })
    await createdId(colleague, { customer: 'Elder' })
    await seal(service.db)
    const button = loadAnew(page, 'Load 2 new orders')
    await button.waitFor()
    assert.deepEqual(await customersOf(page), ['Cedar', 'Basil', 'Acme'])
    await eventually(async () => assert.match(await page.title(), /^\(5\) Orders/))
    await checkAccessibility(page)
    await button.click()
    await linkOf(page, 'Elder').waitFor()
    await loadAnew(page, 'Reload').waitFor()
    await focuses(page, 'Reload')

    await t.test('counts only the new orders that the search finds', async () => {
      await searchBox(page).fill('Fern')
      await page.getByRole('heading', { name: 'No orders match' }).waitFor()
      for (const customer of ['Gorse', 'Fern', 'Hazel']) await createdId(colleague, { customer })
      await seal(service.db)
      await loadAnew(page, 'Load 1 new order').click()
      await linkOf(page, 'Fern').waitFor()
    })

    await t.test('updates the figures of the overview', async () => {
      await page.getByRole('link', { name: 'Overview' }).click()
      await page.getByRole('link', { name: 'All 8 orders' }).waitFor()
      await createdId(colleague, { customer: 'Ivy' })
      await seal(service.db)
      await page.getByRole('link', { name: 'All 9 orders' }).waitFor()
    })
  })

  it('changes a row in its place, and leaves the focus where it is', async () => {
    const ids = await atWork((total) => `${ofTotal(total)}+status%3DPending`)
    await eventually(async () => assert.ok((await waiting()) >= 3))
    const others = (await waiting()) - 3
    await linkOf(page, 'Basil').focus()
    await colleague.patch(`/v1/orders/${ids[1]}/approve`)
    await seal(service.db)
    await row(page, 'Basil').getByText('Approved').waitFor()
    assert.deepEqual(await customersOf(page), ['Cedar', 'Basil', 'Acme'])
    await focuses(page, 'Basil')
    await page.getByRole('checkbox', { name: /^Select Cedar/ }).focus()
    await colleague.patch(`/v1/orders/${ids[2]}/approve`)
    await seal(service.db)
    await row(page, 'Cedar').getByText('Approved').waitFor()
    await focuses(page, 'Cedar')
    await eventually(async () => assert.equal(await waiting(), others + 1))
    await loadAnew(page, 'Reload').click()
    await eventually(async () => assert.deepEqual(await customersOf(page), ['Acme']))
  })

  it('never shows columns that arrive late to the next user of this tab', async () => {
    const ids = await atWork((total) => `${ofTotal(total)}&columns=customer,createdBy`)
    await linkOf(page, 'Basil').waitFor()
    const { pathname, search } = new URL(page.url())
    const [sent, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const ofColumns = /\/v1\/orders\?.*filter=id/
    await page.route(ofColumns, async (route) => {
      sent.resolve()
      await released.promise
      const items = [
        { id: ids[1], customer: 'Late', total: 1, status: 1, createdAtUtc: new Date().toISOString() },
      ]
      await route.fulfill({ json: { items } })
    })
    await colleague.patch(`/v1/orders/${ids[1]}/approve`)
    await seal(service.db)
    await sent.promise
    await page.getByRole('button', { name: 'Sign out' }).click()
    const next = await newUser(service, { roles: ['Admin'] })
    await signInByForm(page, next.credentials, nameCard(page, next.userName))
    await page.evaluate(`__TSR_ROUTER__.history.push(${JSON.stringify(pathname + search)})`)
    await linkOf(page, 'Basil').waitFor()
    released.resolve()
    // Any change that the answer caused would be drawn in the next frames.
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 300))')
    assert.deepEqual(await customersOf(page), ['Cedar', 'Basil', 'Acme'])
    await page.unroute(ofColumns)
    person.visitor = undefined
  })

  it('shows in an open order who decided, before the person tries, even while the question is open', async () => {
    const ids = await atWork((_, all) => `/orders/${all[0]}`)
    await page.getByRole('button', { name: /^Reject/ }).click()
    const dialog = page.getByRole('alertdialog')
    await dialog.waitFor()
    await colleague.patch(`/v1/orders/${ids[0]}/approve`)
    await seal(service.db)
    await dialog.getByText('No decision needed.').waitFor()
    const told = page.getByRole('status').getByText(new RegExp(`${name}.* has approved this order`))
    // The dialog makes everything else inert: it is neither read out nor can it be pressed.
    await told.click({ timeout: 5_000 })
    await dialog.getByRole('button', { name: 'Close' }).click()
    await eventually(async () =>
      assert.equal(await page.getByRole('button', { name: /^Approve/ }).count(), 0),
    )
  })

  it('resumes after a lost connection, with what happened in between, and ends with the sign-out', async () => {
    const ids = await atWork(ofTotal)
    person.allowFault(brokenConnection)
    await person.network('stopped')
    await colleague.patch(`/v1/orders/${ids[0]}/approve`)
    await seal(service.db)
    await person.network('normal')
    await row(page, 'Acme').getByText('Approved').waitFor()
    const requests = listRequests(page)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Countersign' }).waitFor()
    await page.waitForTimeout(2_500)
    assert.ok(!requests.includes(stream))
    await eventually(async () => assert.doesNotMatch(await page.title(), /^\(/))
  })

  it('uses one connection for all tabs, which another tab takes over', async () => {
    const ids = await atWork(ofTotal)
    const second = await page.context().newPage()
    const requests = listRequests(second)
    await second.goto(page.url())
    await linkOf(second, 'Basil').waitFor()
    await colleague.patch(`/v1/orders/${ids[0]}/approve`)
    await seal(service.db)
    for (const tab of [page, second]) await row(tab, 'Acme').getByText('Approved').waitFor()
    assert.ok(!requests.includes(stream))
    await page.close()
    await eventually(() => assert.ok(requests.includes(stream)))
    await colleague.patch(`/v1/orders/${ids[1]}/approve`)
    await seal(service.db)
    await row(second, 'Basil').getByText('Approved').waitFor()
  })
})
