import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { heading, hold, waitForAddress } from '../support/browser/journeys.ts'
import { customersOf, visit } from '../support/browser/orders.ts'
import { openBrowser } from '../support/browser/person.ts'
import { approve, button, closed, inDialog } from '../support/browser/question.ts'
import { createdId } from '../support/orders.ts'
import { policyRow, putPolicy } from '../support/policy.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
await putPolicy(service, [policyRow(), policyRow({ from: 1_000, approvals: 2, selfApproval: false })])
const operator = await service.bearer('operator')
const admin = await service.bearer('admin')

/** Orders of a customer with these totals, oldest first; those below 100 are approved. */
async function ordersOf(customer: string, totals: readonly number[]): Promise<string[]> {
  const ids: string[] = []
  for (const total of totals) {
    const id = await createdId(operator, { customer, total })
    if (total < 100) await admin.patch(`/v1/orders/${id}/approve`)
    ids.push(id)
  }
  return ids
}

const others = (page: Page) => page.getByRole('region', { name: 'The customer’s other orders' })

describe('an approver', () => {
  const person = browser.stayingPerson({ service })

  it('sees what the customer ordered before, and the rule of the order', async () => {
    const name = '*"Café" \\ Söhne'
    const ids = await ordersOf(name, [10, 30, 20.5, 500, 40, 60, 1_000])
    const page = await visit(person, 'admin', `/orders/${ids[6]}`)
    await page.getByText('two approvals, from anyone other than the creator.').waitFor()
    await others(page).getByText('60.00').waitFor()
    const rows = await others(page).getByRole('listitem').allInnerTexts()
    assert.deepEqual(
      rows.map((row) => row.split('\n').filter((part) => /\.\d|[A-Z]/.test(part))),
      [
        ['60.00', 'Approved'],
        ['40.00', 'Approved'],
        ['500.00', 'Pending'],
        ['20.50', 'Approved'],
        ['30.00', 'Approved'],
      ],
    )
    await others(page).getByRole('link', { name: 'All 7 orders' }).click()
    await heading(page, 'Orders').waitFor()
    await page.getByRole('table').getByRole('link').nth(6).waitFor()
    assert.deepEqual(await customersOf(page), Array(7).fill(name))
    await page.goBack()
    await others(page).getByRole('link').nth(3).click()
    await waitForAddress(person, `/orders/${ids[3]}`)
  })

  it('decides without waiting for that, and nothing moves when it comes', async () => {
    const [, id] = await ordersOf('Late Lamps', [5, 200])
    const release = await hold(person.page, '**/v1/orders?*')
    const page = await visit(person, 'admin', `/orders/${id}`)
    await approve(page).click()
    await inDialog(page, 'Approve').click()
    await closed(page)
    await page.getByText('Approved by').waitFor()
    const parts = [heading(page, 'Late Lamps'), page.getByText('Approved by'), button(page, 'Add a note')]
    const places = () => Promise.all(parts.map((part) => part.boundingBox()))
    const before = await places()
    await release()
    await others(page).getByText('5.00').waitFor()
    assert.deepEqual(await places(), before)
  })

  it('sees that the customer has no other orders', async () => {
    const [id] = await ordersOf('Single Saws', [200])
    const page = await visit(person, 'admin', `/orders/${id}`)
    await others(page).getByText('This customer has no other orders.').waitFor()
    assert.equal(await others(page).getByRole('link').count(), 0)
  })

  it('sees the same in a review', async () => {
    await ordersOf('Review Rugs', [5, 200])
    const page = await visit(
      person,
      'admin',
      '/orders/review?filter=customer%3D"Review+Rugs"+status%3DPending',
    )
    await others(page).getByText('5.00').waitFor()
  })
})
