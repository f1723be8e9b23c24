import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { newUser } from '../support/accounts.ts'
import { newAdministrator } from '../support/administration.ts'
import { heading, waitForFocus } from '../support/browser/journeys.ts'
import { lookAt } from '../support/browser/looks.ts'
import { eventually, visit } from '../support/browser/orders.ts'
import { openBrowser, type Person } from '../support/browser/person.ts'
import { button } from '../support/browser/question.ts'
import { createdId } from '../support/orders.ts'
import { startService } from '../support/service.ts'
import {
  newSender,
  newWebhook,
  type Received,
  sealAll,
  sendUntil,
  startReceiver,
  toReceivers,
} from '../support/webhooks.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, env: toReceivers, until: { after } })

const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true })
const says = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor()
const boss = await newUser(service, { roles: ['Admin'] })

describe('webhooks', () => {
  const person = browser.stayingPerson({ service })

  it('are made, seen failing, mended, and sent their events again', async (t) => {
    const away = 'the <b>database</b> is away'
    const receiver = await startReceiver(t)
    receiver.answer = (_message, response) => response.writeHead(500).end(away)
    const sender = newSender(service)
    const page = await visit(person, boss, '/')
    await link(page, 'Settings').press('Enter')
    await link(page, 'Webhooks').press('Enter')
    await heading(page, 'Webhooks').waitFor()
    await link(page, 'Add webhook').press('Enter')
    await heading(page, 'Add webhook').waitFor()
    await page.getByLabel('Address').fill(receiver.url)
    await button(page, 'Add').click()
    await waitForFocus(page.getByLabel('Secret', { exact: true }))
    const secret = await page.getByLabel('Secret', { exact: true }).inputValue()
    assert.match(secret, /^whsec_/)
    await link(page, 'Open the webhook').click()
    await heading(page, new URL(receiver.url).host).waitFor()
    await says(page, 'Nothing has been sent yet.')
    await button(page, 'Send a test').click()
    await says(page, 'The test: it answered 500.')

    const id = await createdId(await service.bearer('operator'))
    await sealAll(service.db)
    await sendUntil(sender, () => receiver.received.length === 2)
    await says(page, /^Failing since .*: 1 attempt so far\.$/)
    const attempt = page.getByRole('row', { name: /order\.created/ })
    const { sequence } = receiver.received[1] as Received
    await attempt.getByText(`Log entry #${sequence}`, { exact: true }).waitFor()
    await attempt.getByText('Failed', { exact: true }).waitFor()
    await attempt.getByText('it answered 500').waitFor()
    await attempt.getByText(away, { exact: true }).waitFor()

    receiver.answer = (_message, response) => response.writeHead(204).end()
    await button(page, 'Try again now').click()
    await says(page, 'The next attempt comes at once')
    await sendUntil(sender, () => receiver.received.length === 3)
    await says(page, 'Up to date')
    await page.getByText('Advanced: send again').click()
    await page.getByLabel('First log entry').fill(String(sequence))
    await button(page, 'Send again').click()
    await says(page, /^Sending again from log entry #/)
    await sendUntil(sender, () => receiver.received.length === 4)
    await eventually(async () => assert.equal(await attempt.getByText('Delivered').count(), 2))
    const [first, again, replayed] = receiver.received.slice(1).map(({ headers }) => headers['webhook-id'])
    assert.equal(again, first)
    assert.notEqual(replayed, first)
    const [, , , last] = receiver.received
    new Webhook(secret).verify(last?.text ?? '', last?.headers ?? {})
    assert.equal(JSON.parse(last?.text ?? '').data.id, id)
  })

  it('are switched off and on, get a new secret, and go once that is confirmed', async (t) => {
    const { caller } = await newAdministrator(service)
    const receiver = await startReceiver(t)
    const { id } = await newWebhook(caller, { url: receiver.url })
    const page = await visit(person, boss, `/webhooks/${id}`)
    // The webhook is drawn in its new state before its attempts are there, and before the words.
    await page.route('**/deliveries*', async (route) => {
      await pause(300)
      await route.fallback()
    })
    await button(page, 'Disable').click()
    await says(page, 'The webhook is disabled')
    await button(page, 'Enable').click()
    await says(page, 'The webhook is enabled')
    await page.unroute('**/deliveries*')
    await button(page, 'Disable').waitFor()

    assert.equal(await button(page, 'Create new secret').isVisible(), false)
    await page.getByText('Advanced: send again').click()
    await button(page, 'Create new secret').click()
    await waitForFocus(page.getByLabel('Secret', { exact: true }))
    await says(page, /^Until .*, messages are also signed with the old secret\.$/)
    await page.getByLabel('Old public key').waitFor()

    await button(page, 'Remove webhook').click()
    await button(page, 'Cancel').click()
    assert.equal((await caller.get(`/v1/webhooks/${id}`)).status, 200)
    await button(page, 'Remove webhook').click()
    await button(page, 'Remove').click()
    await heading(page, 'Webhooks').waitFor()
    assert.equal((await caller.get(`/v1/webhooks/${id}`)).status, 404)
  })

  it('say at the field what is wrong with an address, and keep what was typed', async () => {
    const page = await visit(person, boss, '/webhooks/new')
    const address = page.getByLabel('Address')
    await address.fill('https://10.0.0.1/hook')
    person.expectFault(/400/)
    await button(page, 'Add').click()
    await says(page, /10\.0\.0\.1 is not a public address/)
    await waitForFocus(address)
    assert.equal(await address.getAttribute('aria-invalid'), 'true')
    assert.equal(await address.inputValue(), 'https://10.0.0.1/hook')
  })

  it('choose whole subjects, or single kinds of events', async (t) => {
    const { caller } = await newAdministrator(service)
    const receiver = await startReceiver(t)
    const { id } = await newWebhook(caller, { url: receiver.url, events: ['order'] })
    const page = await visit(person, boss, `/webhooks/${id}`)
    const check = (name: string) => page.getByRole('checkbox', { name, exact: true })
    const saved = async (expected: string[]) => {
      await button(page, 'Save').click()
      await eventually(async () =>
        assert.deepEqual((await caller.get(`/v1/webhooks/${id}`)).body.events, expected),
      )
    }
    await page.getByText('Advanced: single kinds of events').click()
    assert.ok(await check('Approved order.approved').isDisabled())
    await check('Orders').uncheck()
    await check('Approved order.approved').check()
    await check('Rejected order.rejected').check()
    await check('Roles').check()
    await saved(['order.approved', 'order.rejected', 'role'])
    await check('Orders 2 kinds').check()
    await saved(['order', 'role'])
  })

  it('are not changed over a change of somebody else', async (t) => {
    const { caller } = await newAdministrator(service)
    const receiver = await startReceiver(t)
    const { id } = await newWebhook(caller, { url: receiver.url })
    const page = await visit(person, boss, `/webhooks/${id}`)
    await page.getByLabel('Address').fill(`${receiver.url}/mine`)
    await caller.patch(`/v1/webhooks/${id}`, { url: `${receiver.url}/theirs` })
    person.expectFault(/412/)
    await button(page, 'Save').click()
    await says(page, 'Someone else has changed this')
    assert.equal(await page.getByLabel('Address').inputValue(), `${receiver.url}/mine`)
    assert.equal((await caller.get(`/v1/webhooks/${id}`)).body.url, `${receiver.url}/theirs`)
  })

  it('are accessible and fit, in both themes and widths', async (t) => {
    const { caller } = await newAdministrator(service)
    const receiver = await startReceiver(t)
    const { id } = await newWebhook(caller, { url: receiver.url, events: ['account.enabled', 'order'] })
    const places = [
      ['all', '/webhooks', 'Webhooks'],
      ['new', '/webhooks/new', 'Add webhook'],
      ['one', `/webhooks/${id}`, new URL(receiver.url).host],
    ] as const
    const views = places.map(([name, path, title]) => {
      const reach = async (visitor: Person) => {
        const page = await visit(visitor, boss, path)
        await heading(page, title).waitFor()
        await page.waitForLoadState('networkidle')
      }
      return [`webhooks-${name}`, reach] as const
    })
    await lookAt(t, person, Object.fromEntries(views))
  })

  it('are hidden from users who may not manage them', async () => {
    const page = await visit(person, 'operator', '/webhooks')
    await says(page, 'You cannot manage webhooks')
    assert.equal(await link(page, 'Webhooks').count(), 0)
    assert.equal(await link(page, 'Add webhook').count(), 0)
  })
})
