import assert from 'node:assert/strict'
import { after, beforeEach, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { hold, waitForFocus } from '../support/browser/journeys.ts'
import { lookAt, type View } from '../support/browser/looks.ts'
import { eventually, visit } from '../support/browser/orders.ts'
import { openBrowser, signIn } from '../support/browser/person.ts'
import { insertOrders, orderRow } from '../support/orders.ts'
import { firstPolicy, policyRow, putPolicy } from '../support/policy.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
const admin = await service.bearer('admin')
const given = [1, 999, 999.9999, 1_000, 5_000, 20_000]
const days = (count: number) => service.now() - count * 86_400_000
await insertOrders(service, [
  ...given.map((total) => orderRow({ total_e4: Math.round(total * 10_000), created_at: days(2) })),
  // Older than what the preview counts.
  orderRow({ total_e4: 20_000 * 10_000, created_at: days(40) }),
])

const path = '/approval-policy'
const policyNow = async () => (await admin.get('/v1/approval-policy')).body.rows
const totals = (page: Page) => page.getByLabel('From a total of')
const approvals = (page: Page) => page.getByLabel('Approvals', { exact: true })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const saved = (page: Page) => page.getByText('Approval policy saved').first().waitFor()
const conflict = (page: Page) => page.getByText('Someone else has changed the policy')
/** Not by what is announced: that may be on its way out. */
const shows = (page: Page, text: string | RegExp) =>
  page.getByRole('region', { name: 'What this means' }).getByText(text).first().waitFor()

async function addRow(page: Page, total: string): Promise<void> {
  await button(page, 'Add row').click()
  await waitForFocus(totals(page).last())
  await totals(page).last().fill(total)
}

describe('the approval policy', () => {
  const person = browser.stayingPerson({ service })

  beforeEach(() => putPolicy(admin, firstPolicy))

  it('is changed by keyboard alone, after a preview of its effect', async () => {
    const page = await visit(person, 'admin', '/')
    await page.getByRole('link', { name: 'Policy' }).press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Approval policy' }).waitFor()
    await shows(page, 'Of the 6 orders of the last 30 days, all would have needed one approval.')
    await button(page, 'Add row').press('Enter')
    await waitForFocus(totals(page))
    await page.keyboard.type('1,000')
    await page.keyboard.press('Tab')
    await waitForFocus(approvals(page).last())
    await page.keyboard.press('3')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await shows(page, 'Of the 6 orders of the last 30 days, 3 would have needed one approval and 3 three.')
    await shows(page, /three approvals, from people only; the creator may approve/)
    await button(page, 'Save policy').press('Enter')
    await saved(page)
    assert.deepEqual(await policyNow(), [
      policyRow(),
      { from: 1_000, approvals: 3, selfApproval: true, services: false },
    ])
  })

  it('adds, changes and removes rows, in whatever order they are typed', async () => {
    const page = await visit(person, 'admin', path)
    await addRow(page, '5000')
    await addRow(page, '200')
    await addRow(page, '70')
    await button(page, 'Remove row 4').click()
    await waitForFocus(button(page, 'Add row'))
    await page.getByLabel('Creator may approve').first().uncheck()
    await button(page, 'Save policy').click()
    await saved(page)
    assert.deepEqual(await policyNow(), [
      policyRow({ selfApproval: false }),
      { from: 200, approvals: 3, selfApproval: false, services: false },
      { from: 5_000, approvals: 2, selfApproval: false, services: false },
    ])
    await eventually(async () =>
      assert.deepEqual(await totals(page).evaluateAll(values), ['200.00', '5,000.00']),
    )
    assert.equal(await button(page, 'Save policy').getAttribute('aria-disabled'), 'true')
  })

  it('reports that orders cannot be counted, and can still be changed', async (t) => {
    const person = await browser.person(t, { service })
    person.expectFault(/400/)
    await signIn(person, 'admin')
    const { page } = person
    await person.network({ answers: 'filter-too-expensive', paths: '/v1/orders' })
    await page.goto(path)
    await shows(page, 'The orders of the last 30 days could not be counted.')
    await page.getByLabel('Services may approve').uncheck()
    await button(page, 'Save policy').click()
    await saved(page)
    assert.deepEqual(await policyNow(), [policyRow({ services: false })])
  })

  it('says what is wrong with a total, and saves nothing', async () => {
    const page = await visit(person, 'admin', path)
    await addRow(page, '1000')
    await addRow(page, '1,000.00')
    await button(page, 'Save policy').click()
    await page.getByText('Another row begins at this total.').waitFor()
    await waitForFocus(totals(page).last())
    await totals(page).last().fill('-5')
    await page.getByText('The total must be greater than 0.').waitFor()
    await totals(page).last().fill('')
    await page.getByText('Enter the total.').waitFor()
    assert.deepEqual(await policyNow(), firstPolicy)
  })

  it('keeps what was typed when someone else was first, and lets the person decide', async () => {
    const page = await visit(person, 'admin', path)
    await addRow(page, '1000')
    await putPolicy(admin, [policyRow({ approvals: 4 })])
    person.expectFault(/412/)
    await button(page, 'Save policy').click()
    await conflict(page).waitFor()
    await page.getByRole('table', { name: 'The policy now' }).getByRole('cell', { name: '4' }).waitFor()
    assert.deepEqual(await totals(page).evaluateAll(values), ['1000'])
    await checkAccessibility(page)
    assert.deepEqual(await policyNow(), [policyRow({ approvals: 4 })])
    await button(page, 'Replace it with mine').click()
    await saved(page)
    const mine = [policyRow(), policyRow({ from: 1_000, approvals: 2, selfApproval: false, services: false })]
    assert.deepEqual(await policyNow(), mine)

    await addRow(page, '2000')
    await putPolicy(admin, [policyRow({ approvals: 5 })])
    person.expectFault(/412/)
    await button(page, 'Save policy').click()
    await conflict(page).waitFor()
    await button(page, 'Keep it and discard mine').click()
    await eventually(async () => assert.equal(await totals(page).count(), 0))
    assert.equal(await approvals(page).inputValue(), '5')
    assert.equal(await conflict(page).count(), 0)
  })

  it('keeps unsaved changes while the person looks elsewhere, and discards them on request', async () => {
    const page = await visit(person, 'admin', path)
    await addRow(page, '1000')
    await page.getByRole('link', { name: 'Orders', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
    await page.getByRole('link', { name: 'Policy' }).click()
    await page.getByText('Your changes are still here, but not saved.').waitFor()
    assert.deepEqual(await totals(page).evaluateAll(values), ['1000'])
    await button(page, 'Start over').click()
    assert.equal(await totals(page).count(), 0)
    assert.deepEqual(await policyNow(), firstPolicy)
  })

  it('is saved once, however often the button is pressed and even if the answer is lost', async (t) => {
    const person = await browser.person(t, { service })
    const page = await visit(person, 'admin', path)
    await addRow(page, '1000')
    const release = await hold(page, `**${'/v1/approval-policy'}`)
    await button(page, 'Save policy').dblclick()
    await button(page, 'Saving …').waitFor()
    await person.network('stopped')
    person.allowFault(/net::ERR_/)
    await release()
    await page
      .getByText(/not responding|offline/)
      .first()
      .waitFor()
    await person.network('normal')
    await saved(page)
    const mine = [policyRow(), policyRow({ from: 1_000, approvals: 2, selfApproval: false, services: false })]
    assert.deepEqual(await policyNow(), mine)
  })

  it('can be read by everyone who may read orders; the menu shows it to people who may change it', async () => {
    await putPolicy(admin, [policyRow(), policyRow({ from: 1_000, approvals: 2 })])
    const page = await visit(person, 'operator', path)
    const table = page.getByRole('table', { name: 'Approval policy' }).getByRole('row')
    await table.last().waitFor()
    const rows = await table.allInnerTexts()
    assert.deepEqual(
      rows.map((row) => row.split(/\s*\t\s*/)),
      [
        ['Total', 'Approvals', 'By its creator', 'By services'],
        ['From 1,000.00', '2', 'Yes', 'Yes'],
        ['All other orders', '1', 'Yes', 'Yes'],
      ],
    )
    assert.equal(await page.getByRole('link', { name: 'Policy' }).count(), 0)
    assert.equal(await button(page, 'Save policy').count(), 0)
    await checkAccessibility(page)
  })

  it('is accessible and fits, in both themes', async (t) => {
    await putPolicy(admin, [policyRow(), policyRow({ from: 99_999_999_999.9999, approvals: 5 })])
    const page = await visit(person, 'admin', path)
    await addRow(page, '')
    const views: View[] = [
      {
        name: 'policy-faulty',
        async reach() {
          await totals(page).last().fill('99,999,999,999.9999')
          await page.keyboard.press('Tab')
          await page.getByText('Another row begins at this total.').waitFor()
        },
      },
      {
        name: 'policy',
        async reach() {
          await totals(page).last().fill('10000')
          await shows(page, /^Of the 6 orders/)
        },
      },
    ]
    await lookAt(t, person, views, { narrowest: { width: 320, height: 860 } })
  })
})

const values = (fields: unknown[]) => fields.map((field) => (field as { value: string }).value)
