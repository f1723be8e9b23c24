import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { newUser, signIn as signInElsewhere } from '../support/accounts.ts'
import { waitForAddress } from '../support/browser/journeys.ts'
import { focuses, storedOrder, visit } from '../support/browser/orders.ts'
import { openBrowser, type Person } from '../support/browser/person.ts'
import { approve, button, closed, dialog, inDialog, titled } from '../support/browser/question.ts'
import type { Client } from '../support/client.ts'
import { createdId } from '../support/orders.ts'
import { policyRow, putPolicy } from '../support/policy.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
/** From this total on, the policy asks for someone other than the creator. */
const forOthers = 90_000
const service = await startService({ clockRuns: true, until: { after } })
await putPolicy(service, [policyRow(), policyRow({ from: forOthers, selfApproval: false })])

type DemoUser = 'admin' | 'operator' | 'viewer'

interface Given {
  /** Its creator. */
  creator?: DemoUser
  /** The person who views it. */
  viewer?: DemoUser
  total?: number
  /** Happens to the order before the person comes. */
  earlier?: (id: string) => Promise<unknown>
}

/** A person at the view of a pending order that only this test knows. */
async function atOrder(
  person: Person,
  { creator = 'operator', viewer = 'admin', total = 1234.5, earlier }: Given = {},
): Promise<{ page: Page; id: string }> {
  const id = await createdId(await service.bearer(creator), { customer: 'Acme & Sons', total })
  await earlier?.(id)
  const page = await visit(person, viewer, `/orders/${id}`)
  await event(page, 'Created by').waitFor()
  return { page, id }
}

/** Another approver, signed in somewhere else. */
async function colleague(): Promise<{ userName: string; caller: Client }> {
  const user = await newUser(service, { roles: ['Admin'] })
  return { userName: user.userName, caller: await signInElsewhere(service, user) }
}

const event = (page: Page, words: string) => page.getByRole('listitem').filter({ hasText: words })
const status = (page: Page, name: string) => page.locator('.order-title').getByText(name, { exact: true })
const announced = (page: Page, words: RegExp) => page.getByRole('status').getByText(words).waitFor()

describe('an order that its viewer cannot approve', () => {
  const person = browser.stayingPerson({ service })

  it('says why when its key is pressed, once however often', async () => {
    const { page, id } = await atOrder(person, { creator: 'admin', total: forOthers })
    const why = 'You or one of your services created this order, so someone else must approve it.'
    await page
      .getByRole('region', { name: 'Order', exact: true })
      .getByText(`Needs one approval. ${why}`)
      .waitFor()
    assert.equal(await approve(page).count(), 0)
    for (const key of ['a', 'a', 'a']) await page.keyboard.press(key)
    await announced(page, new RegExp(why))
    assert.equal(await page.getByRole('status').getByText(why).count(), 1)
    await page.keyboard.press('r')
    await titled(page, 'Reject this order?')
    await page.keyboard.press('Escape')
    await closed(page)
    await visit(person, 'admin', `/orders/review?ids=${id}`)
    await page.getByRole('status').locator('strong', { hasText: why }).waitFor()
  })
})

describe('a rejection', () => {
  const person = browser.stayingPerson({ service })

  it('is written in the card of the order, and asks for a reason, which the history shows as it was written', async () => {
    const { page, id } = await atOrder(person)
    await button(page, 'Reject …').waitFor()
    assert.equal(await button(page, 'Withdraw …').count(), 0)
    await button(page, 'Reject …').click()
    await titled(page, 'Reject this order?')
    await focuses(page, 'Reason')
    assert.equal(await page.locator('.order-sheet').getByRole('alertdialog').count(), 1)
    assert.match((await inDialog(page, 'Reject').getAttribute('class')) ?? '', /button-danger/)
    await inDialog(page, 'Reject').click()
    await dialog(page).getByText('Enter a reason.').first().waitFor()
    await focuses(page, 'Reason')
    assert.equal((await storedOrder(service, id)).status, 0)
    const reason = 'Not the total of the offer:\n\n1,234.50 <b>instead</b> of 1,243.50. عرض'
    await dialog(page).getByLabel('Reason').fill(reason)
    await inDialog(page, 'Reject').click()
    await closed(page)
    await announced(page, /^Order #\d+ rejected$/)
    await status(page, 'Rejected').waitFor()
    await focuses(page, 'Order for Acme & Sons')
    await event(page, 'Rejected by admin').waitFor()
    assert.deepEqual(await event(page, 'Rejected by admin').locator('blockquote').allInnerTexts(), [reason])
    assert.equal(await approve(page).count(), 0)
    assert.equal(await button(page, 'Reject …').count(), 0)
    assert.deepEqual(await storedOrder(service, id), { status: 2, version: 2, modifiedBy: 'admin' })
  })

  it('keeps what was written when the dialog is closed, all by keyboard', async () => {
    const { page, id } = await atOrder(person)
    await button(page, 'Reject …').press('Enter')
    await focuses(page, 'Reason')
    await page.keyboard.type('Too late')
    await page.keyboard.press('Escape')
    await closed(page)
    await focuses(page, 'Reject …')
    await page.keyboard.press('Enter')
    await focuses(page, 'Reason')
    await page.keyboard.type(' for this year.')
    for (const name of ['Cancel', 'Reject']) {
      await page.keyboard.press('Tab')
      await focuses(page, name)
    }
    await page.keyboard.press('Enter')
    await closed(page)
    await event(page, 'Too late for this year.').waitFor()
    assert.equal((await storedOrder(service, id)).status, 2)
  })
})

describe('the history', () => {
  const person = browser.stayingPerson({ service })

  it('shows each event with its number in the log, once it has one', async () => {
    const admin = await service.bearer('admin')
    const earlier = async (id: string) => {
      await service.db.write('sealEvents', { limit: 1_000 })
      await admin.post(`/v1/orders/${id}/notes`, { text: 'Later.' })
    }
    const { page, id } = await atOrder(person, { earlier })
    await event(page, 'Note added by admin').getByText('Being recorded').waitFor()
    await service.db.write('sealEvents', { limit: 1_000 })
    // The number appears by itself.
    await event(page, 'Note added by admin').getByText('Being recorded').waitFor({ state: 'detached' })
    const { items } = (await admin.get(`/v1/orders/${id}/history`)).body
    for (const [index, words] of ['Created by operator', 'Note added by admin'].entries()) {
      const place = event(page, words).locator('[title*="SHA-256"]')
      assert.match((await place.getAttribute('title')) ?? '', new RegExp(items[index].hash))
      const number = items[index].sequence.toLocaleString('en-US')
      assert.match((await place.textContent()) ?? '', new RegExp(`${number}$`))
    }
  })

  it('continues beyond a page', async () => {
    const operator = await service.bearer('operator')
    const { page } = await atOrder(person, {
      async earlier(id) {
        for (let number = 1; number <= 101; number += 1) {
          await operator.post(`/v1/orders/${id}/notes`, { text: `Note number ${number}.` })
        }
      },
    })
    await event(page, 'Note number 99.').waitFor()
    assert.equal(await event(page, 'Note number 100.').count(), 0)
    await button(page, 'Show more').click()
    await event(page, 'Note number 101.').waitFor()
    assert.equal(await button(page, 'Show more').count(), 0)
  })
})

describe('a duplicate', () => {
  const person = browser.stayingPerson({ service })

  it('begins with the customer and total of its order, which stays unchanged', async () => {
    const { page, id } = await atOrder(person)
    await button(page, 'Duplicate').click()
    await waitForAddress(person, '/orders/new')
    assert.equal(await page.getByLabel('Customer', { exact: true }).inputValue(), 'Acme & Sons')
    assert.equal(await page.getByLabel('Total').inputValue(), '1,234.50')
    await page.getByLabel('Total').fill('1,243.50')
    await page.getByRole('button', { name: 'Create order' }).click()
    await event(page, 'Created by admin').waitFor()
    await page.getByText('1,243.50', { exact: true }).waitFor()
    assert.deepEqual(await storedOrder(service, id), { status: 0, version: 1, modifiedBy: null })
  })
})

describe('a note of someone who may not approve', () => {
  const person = browser.stayingPerson({ service })

  it('is added in any state, once, with its line breaks', async () => {
    const { caller } = await colleague()
    const earlier = (id: string) => caller.patch(`/v1/orders/${id}/approve`)
    const { page, id } = await atOrder(person, { viewer: 'operator', earlier })
    await status(page, 'Approved').waitFor()
    await button(page, 'Add a note').click()
    await focuses(page, 'Note')
    await button(page, 'Add note').click()
    await page.getByText('Enter a note.').first().waitFor()
    await page.getByLabel('Note', { exact: true }).last().fill('Called them.\nThey agree.')
    await button(page, 'Add note').dblclick()
    await event(page, 'Note added by operator').waitFor()
    await announced(page, /^Note added$/)
    await focuses(page, 'Add a note')
    assert.deepEqual(await event(page, 'Note added by operator').locator('blockquote').allInnerTexts(), [
      'Called them.\nThey agree.',
    ])
    const { items } = (await caller.get(`/v1/orders/${id}/history`)).body
    assert.equal(items.length, 3)
    assert.equal((await storedOrder(service, id)).version, 2)
  })
})

describe('a person who may only look', () => {
  const person = browser.stayingPerson({ service })

  it('sees why they cannot decide, and is offered no action', async () => {
    const { page } = await atOrder(person, { viewer: 'viewer' })
    await page.getByText('Needs one approval. Your role does not include approving orders.').waitFor()
    for (const name of ['Add a note', 'Reject …', 'Withdraw …', 'Duplicate']) {
      assert.equal(await button(page, name).count(), 0, name)
    }
  })
})
