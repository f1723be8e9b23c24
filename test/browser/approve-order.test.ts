import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import {
  approvalsOf,
  eventually,
  focusedName,
  focuses,
  storedOrder,
  visit,
} from '../support/browser/orders.ts'
import { openBrowser, type Person } from '../support/browser/person.ts'
import { approve, closed, dialog, inDialog, titled } from '../support/browser/question.ts'
import { brokenConnection } from '../support/browser/watch.ts'
import { insertOrders, type OrderRow, orderRow } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })

/** An administrator goes to the view of a pending order that only this test knows. */
async function toOrder(person: Person, given: Partial<OrderRow> = {}): Promise<{ page: Page; id: string }> {
  const row = orderRow({ customer: 'Acme', total_e4: 12_345_000, ...given })
  await insertOrders(service, [row])
  const page = await visit(person, 'admin', `/orders/${row.id}`)
  await approve(page).waitFor()
  return { page, id: row.id }
}

const pending = { status: 0, version: 1, modifiedBy: null }
const approvedBy = (modifiedBy: string) => ({ status: 1, version: 2, modifiedBy })

async function open(page: Page): Promise<void> {
  await approve(page).click()
  await titled(page, 'Approve this order?')
}

async function announcesApproval(page: Page, id: string): Promise<void> {
  const { body } = await (await service.bearer('viewer')).get(`/v1/orders/${id}/approvals`)
  await page.getByRole('status').getByText(`Order #${body.number} approved`, { exact: true }).waitFor()
}

/** Checks the view of an order that someone has approved. */
async function showsApproval(page: Page, userName: string): Promise<void> {
  await page.locator('.order-title').getByText('Approved', { exact: true }).waitFor()
  await page
    .getByRole('listitem')
    .filter({ hasText: `Approved by ${userName}` })
    .waitFor()
  assert.equal(await approve(page).count(), 0)
}

describe('approving an order', () => {
  describe('an approval', () => {
    const person = browser.stayingPerson({ service, timezone: 'Europe/Berlin' })

    it('focuses Approve first, keeps the focus inside, and does nothing until it is answered', async (t) => {
      const { page, id } = await toOrder(person, { customer: 'Acme & Sons' })
      const sent = approvalsOf(page)
      await open(page)
      await dialog(page).getByText('Acme & Sons').waitFor()
      await focuses(page, 'Approve')
      for (const name of ['Cancel', 'Approve', 'Cancel']) {
        await page.keyboard.press('Tab')
        assert.equal(await focusedName(page), name)
      }
      await page.keyboard.press('Enter')
      await closed(page)
      await focuses(page, 'Approve')
      await page.keyboard.press('a')
      await titled(page, 'Approve this order?')
      await focuses(page, 'Approve')
      // The question is asked once, and the keys of the page do nothing.
      await page.keyboard.press('a')
      assert.equal(await dialog(page).count(), 1)
      await page.keyboard.press('Escape')
      await closed(page)
      await focuses(page, 'Approve')
      assert.deepEqual(sent, [])
      assert.deepEqual(await storedOrder(service, id), pending)

      await t.test(
        'then approves the version on the screen, under one key, and shows it everywhere',
        async () => {
          await page.keyboard.press('a')
          await titled(page, 'Approve this order?')
          await page.keyboard.press('Enter')
          await closed(page)
          await announcesApproval(page, id)
          await showsApproval(page, 'admin')
          await focuses(page, 'Order for Acme & Sons')
          assert.equal(sent.length, 1)
          const [{ headers } = assert.fail()] = sent
          assert.equal(headers['if-match'], '"1"')
          assert.match(headers['idempotency-key'] ?? '', /^[\da-f-]{36}$/)
          assert.equal(headers['time-zone'], 'Europe/Berlin')
          assert.deepEqual(await storedOrder(service, id), approvedBy('admin'))
          await page.keyboard.press('a')
          assert.equal(await dialog(page).count(), 0)
          await page.reload()
          await showsApproval(page, 'admin')
        },
      )
    })
  })

  describe('the address of an order', () => {
    const person = browser.stayingPerson({ service, timezone: 'Europe/Berlin' })

    it('has a page that says so if it never existed, and links to the orders', async () => {
      person.expectFault(/ 404 /)
      const page = await visit(person, 'admin', `/orders/${randomUUID()}`)
      await page.getByRole('heading', { name: 'Order not found' }).waitFor()
      assert.equal(await approve(page).count(), 0)
      await page.keyboard.press('a')
      assert.equal(await dialog(page).count(), 0)
      await page.getByRole('link', { name: 'Go to orders' }).click()
      await page.getByRole('heading', { name: 'Orders', level: 1 }).waitFor()
    })
  })

  describe('an approval whose answer is lost', () => {
    const person = browser.stayingPerson({ service, timezone: 'Europe/Berlin' })

    /** The service has approved it, and its answer is held up on the way. */
    async function committed(id: string): Promise<void> {
      const { page } = person
      await open(page)
      await person.network({ slowBySeconds: 20 })
      await inDialog(page, 'Approve').click()
      await eventually(async () => assert.deepEqual(await storedOrder(service, id), approvedBy('admin')))
      await person.network('silent')
    }

    it('is sent again under the same key, and counts once', async () => {
      const { page, id } = await toOrder(person)
      const sent = approvalsOf(page)
      await committed(id)
      person.expectFault(brokenConnection)
      await person.network('stopped')
      await dialog(page).getByText('The service is not responding').waitFor()
      const again = page.waitForResponse((response) => response.request().method() === 'PATCH')
      await person.network('normal')
      assert.equal((await again).headers()['idempotency-replayed'], 'true')
      await announcesApproval(page, id)
      await showsApproval(page, 'admin')
      assert.ok(sent.length >= 2)
      assert.equal(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size, 1)
      assert.deepEqual(await storedOrder(service, id), approvedBy('admin'))
    })
  })
})
