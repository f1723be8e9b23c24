import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { isolated } from '../../rules/isolate.ts'
import { newUser, type TestUser } from '../support/accounts.ts'
import { heading } from '../support/browser/journeys.ts'
import { lookAt, type Views } from '../support/browser/looks.ts'
import { followLink } from '../support/browser/orders.ts'
import { openBrowser, signIn } from '../support/browser/person.ts'
import { approve, button, closed, dialog, inDialog } from '../support/browser/question.ts'
import { createdId } from '../support/orders.ts'
import { addRole } from '../support/roles.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
const minute = 60_000

const absence = (page: Page) => page.getByRole('region', { name: 'Absence' })
const notice = (page: Page) => page.locator('.standing-in')

async function confirm(page: Page, user: TestUser): Promise<void> {
  const asked = page.getByRole('dialog', { name: 'Confirm it’s you' })
  await asked.getByLabel('Password').fill(user.password)
  await button(page, 'Confirm').click()
  await asked.waitFor({ state: 'detached' })
}

describe('an absence', () => {
  it('leads from Ann, who names Bo, over Bo, who approves for her, back to Ann, who sees it', async (t) => {
    const role = await addRole(service, 'Approver', ['Orders.Read', 'Orders.Approve'])
    const ann = await newUser(service, { roles: [role] })
    const bo = await newUser(service, { roles: ['Viewer'] })
    const id = await createdId(await service.bearer('operator'), { customer: 'Acme', total: 1250.5 })
    const atAnns = await browser.person(t, { service })
    const atBos = await browser.person(t, { service })

    await signIn(atAnns, ann)
    // Ann's sign-in is too old for an absence.
    service.advance(6 * minute)
    for (const { page } of [atAnns, atBos]) await page.clock.install({ time: service.now() })
    await lookAt(t, atAnns, annLeaves(ann, bo))
    await signIn(atBos, bo)
    await lookAt(t, atBos, boStandsIn(ann, id))
    await inDialog(atBos.page, 'Approve').click()
    await closed(atBos.page)
    const history = atBos.page.getByRole('region', { name: 'History' })
    await history.getByText(`Approved by ${bo.userName} for`).waitFor()
    await lookAt(t, atAnns, annReturns(ann, bo, id))

    await atBos.page.goto('/')
    await atBos.page.getByRole('heading', { name: 'Orders per day' }).waitFor()
    assert.equal(await notice(atBos.page).textContent(), '')
  })
})

const annLeaves = (ann: TestUser, bo: TestUser): Views => ({
  async 'absence-set'({ page, expectFault }) {
    await page.goto('/account')
    await heading(page, 'My account').waitFor()
    await absence(page).getByLabel('Deputy').pressSequentially(bo.userName.slice(0, -2))
    await absence(page).locator(`option[value="${bo.userName}"]`).waitFor({ state: 'attached' })
    await absence(page).getByLabel('Deputy').fill('nobody')
    await absence(page).getByLabel('Until').fill('2099-01-04T08:00')
    await button(page, 'Set absence').click()
    await absence(page).getByText('There is no deputy called nobody.').waitFor()
    await absence(page).getByLabel('Deputy').fill(bo.userName.toUpperCase())
    await absence(page).getByLabel('Until').fill(localIn(14))
    expectFault(/ 403 .*\/v1\/auth\/absence/)
    await button(page, 'Set absence').click()
    await confirm(page, ann)
    await button(page, 'End absence').waitFor()
    await notice(page).getByText(`${bo.userName} stands in for you until`).waitFor()
  },
})

const boStandsIn = (ann: TestUser, id: string): Views => ({
  async 'absence-deputy-overview'({ page }) {
    await page.goto('/')
    await notice(page).getByText(`You stand in for ${ann.userName} until`).waitFor()
    await page.getByRole('region', { name: 'Waiting for you' }).getByRole('listitem').waitFor()
    await page.waitForFunction("document.title.startsWith('(1) ')")
    await page.getByRole('link', { name: 'Review oldest' }).waitFor()
  },
  async 'absence-deputy-order'({ page }) {
    await followLink(page, `/orders/${id}`)
    await page.getByText(`You approve for ${isolated(ann.userName)}.`).waitFor()
    await button(page, /^Reject/).waitFor()
  },
  async 'absence-deputy-review'({ page }) {
    await followLink(page, '/orders?filter=waits%3Ame')
    await button(page, /^Review/).click()
    await heading(page, /Acme/).waitFor()
    await page.getByText(`You approve for ${isolated(ann.userName)}.`).waitFor()
  },
  async 'absence-deputy-question'({ page }) {
    await followLink(page, `/orders/${id}`)
    await approve(page).click()
    await dialog(page)
      .getByText(`You approve it for ${isolated(ann.userName)}. This cannot be undone.`)
      .waitFor()
  },
})

const annReturns = (ann: TestUser, bo: TestUser, id: string): Views => ({
  async 'absence-history'({ page }) {
    await button(page, 'End absence').click()
    await button(page, 'Set absence').waitFor()
    assert.equal(await notice(page).textContent(), '')
    await followLink(page, '/orders?columns=customer,approvedBy')
    const both = `${bo.userName} for ${ann.userName}`
    await page.getByRole('cell', { name: both }).waitFor()
    await followLink(page, `/orders/${id}`)
    await page.getByRole('region', { name: 'History' }).getByText(`Approved by ${both}`).waitFor()
    await page.getByRole('region', { name: 'Order' }).getByText(both).waitFor()
  },
  async 'absence-receipt'({ page }) {
    await followLink(page, `/orders/${id}/receipt`)
    await page.getByText(`by ${bo.userName} for ${ann.userName}`).waitFor()
  },
})

/** The local time in a field, that many days ahead. */
function localIn(days: number): string {
  const at = new Date(service.now() + days * 24 * 60 * minute)
  return new Date(at.getTime() - at.getTimezoneOffset() * minute).toISOString().slice(0, 16)
}
