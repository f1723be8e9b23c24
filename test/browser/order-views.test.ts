import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { newUser, signIn as signInElsewhere } from '../support/accounts.ts'
import { heading } from '../support/browser/journeys.ts'
import { lookAt, type Views } from '../support/browser/looks.ts'
import { visit } from '../support/browser/orders.ts'
import { openBrowser, type Person } from '../support/browser/person.ts'
import { createdId } from '../support/orders.ts'
import { policyRow, putPolicy } from '../support/policy.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
/** From this total on an order needs two approvals. */
const forTwo = 100_000

const service = await startService({ clockRuns: true, until: { after } })
const policy = [policyRow(), policyRow({ from: forTwo, approvals: 2, selfApproval: false })]
await putPolicy(service, policy)

async function create(customer: string, total: number): Promise<string> {
  return createdId(await service.bearer('operator'), { customer, total })
}

async function approve(id: string): Promise<void> {
  const admin = await service.bearer('admin')
  assert.equal((await admin.patch(`/v1/orders/${id}/approve`)).status, 204)
}

/** Opens the view of an order that was just created. */
async function openPendingOrder(person: Person, customer: string, total = 1284.5): Promise<string> {
  const id = await create(customer, total)
  const page = await visit(person, 'admin', `/orders/${id}`)
  await page.getByRole('button', { name: 'Approve' }).waitFor()
  await page.getByText('Created by').first().waitFor()
  return id
}

const views: Views = {
  async 'approve-conflict'(person) {
    const { page, expectFault } = person
    expectFault(/ 412 .*\/approve\b/)
    const id = await openPendingOrder(person, 'Harbour Light')
    await page.getByRole('button', { name: 'Approve' }).click()
    await approve(id)
    await page.getByRole('alertdialog').getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByRole('alertdialog', { name: 'This order is already approved' }).waitFor()
  },
  async 'reject-one'(person) {
    const { page } = person
    await openPendingOrder(person, 'Kestrel Freight')
    await page.getByRole('button', { name: 'Reject …' }).click()
    await page.getByRole('alertdialog', { name: 'Reject this order?' }).waitFor()
    await page.getByRole('button', { name: 'Reject', exact: true }).click()
    await page.getByText('Enter a reason.').first().waitFor()
  },
  async 'order-rejected'({ page }) {
    await page
      .getByLabel('Reason')
      .fill('The total differs from the offer:\n1,284.50 is what they were offered.')
    await page.getByRole('button', { name: 'Reject', exact: true }).click()
    await page.getByText(/^Rejected by/).waitFor()
    await page.getByText('they were offered').waitFor()
  },
  async 'order-one-of-two'(person) {
    const id = await create('Alder & Finch', 125_000)
    await approve(id)
    const page = await visit(person, 'admin', `/orders/${id}`)
    await page.getByText('Needs one more approval. You already approved it.').waitFor()
    await page.getByText(/^Approval given by/).waitFor()
  },
  async 'order-with-a-long-life'(person) {
    const id = await create('Winterfeld & Söhne', 148_250)
    const operator = await service.bearer('operator')
    const notes = ['Called the customer.\n\nThey confirm the total.', 'اتصلت بالعميل', 'x'.repeat(400)]
    for (const text of notes) await operator.post(`/v1/orders/${id}/notes`, { text })
    const user = await newUser(service, { roles: ['Admin'] })
    await (await signInElsewhere(service, user)).patch(`/v1/orders/${id}/approve`)
    await approve(id)
    await service.db.write('sealEvents', { limit: 1_000 })
    const page = await visit(person, 'admin', `/orders/${id}`)
    await page.getByText('2 of 2').waitFor()
    await page.getByText(/^Approved by admin/).waitFor()
    await page.getByRole('button', { name: 'Add a note' }).click()
    await page.getByRole('textbox', { name: 'Note' }).fill('One more thing')
  },
  async receipt({ page }) {
    await page.getByRole('link', { name: 'Approval certificate' }).click()
    await page.getByRole('article', { name: 'Approval certificate' }).waitFor()
  },
  async 'receipt-not-approved'(person) {
    person.expectFault(/ 409 .*\/receipt\b/)
    const id = await create('Harbour Light', 12)
    const page = await visit(person, 'admin', `/orders/${id}/receipt`)
    await heading(page, 'There is no approval certificate').waitFor()
  },
  async 'order-not-found'(person) {
    person.expectFault(/ 404 .*\/v1\/orders\//)
    const page = await visit(person, 'admin', `/orders/${randomUUID()}`)
    await heading(page, 'Order not found').waitFor()
  },
}

describe('everything that can be done with an order', () => {
  const person = browser.stayingPerson({ service })
  it('is accessible and fits, in both themes and widths', (t) => lookAt(t, person, views))
})
