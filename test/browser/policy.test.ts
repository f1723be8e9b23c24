import assert from 'node:assert/strict'
import { after, beforeEach, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { newUser } from '../support/accounts.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { hold, listRequests, waitForFocus } from '../support/browser/journeys.ts'
import { lookAt, type Views } from '../support/browser/looks.ts'
import { eventually, visit } from '../support/browser/orders.ts'
import { answered } from '../support/browser/pages.ts'
import { type Account, openBrowser } from '../support/browser/person.ts'
import { button } from '../support/browser/question.ts'
import { insertOrders, orderRow } from '../support/orders.ts'
import { firstPolicy, policyRow, putPolicy } from '../support/policy.ts'
import { addRole } from '../support/roles.ts'
import { passwordOf, startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
const given = [1, 999, 999.9999, 1_000, 5_000, 20_000]
const days = (count: number) => service.now() - count * 86_400_000
await insertOrders(service, [
  ...given.map((total) => orderRow({ total_e4: Math.round(total * 10_000), created_at: days(2) })),
  // Older than the orders that the preview counts.
  orderRow({ total_e4: 20_000 * 10_000, created_at: days(40) }),
])
const rare = await addRole(service, 'Rare', [])

const path = '/approval-policy'
/** By a new token each time, because a test moves the clock on. */
async function policyNow(): Promise<unknown> {
  const admin = await service.bearer('admin')
  return (await admin.get('/v1/approval-policy')).body.rows
}
const totals = (page: Page) => page.getByLabel('From a total of')
const approvals = (page: Page) => page.getByLabel('Approvals', { exact: true })
/** Waits for the policy, whose announcement may be that of an earlier test. */
async function saved(page: Page, rows: unknown[]): Promise<void> {
  await eventually(async () => assert.deepEqual(await policyNow(), rows))
  await page.getByText('Approval policy saved').first().waitFor()
  await button(page, 'Discard changes').waitFor({ state: 'detached' })
}
const conflict = (page: Page) => page.getByText('Someone else has changed this')
/** The row that is added with a total of 1,000. */
const more = policyRow({ from: 1_000, approvals: 2, selfApproval: false, services: false })
/** Ignores announcements, which may be about to disappear. */
const shows = (page: Page, text: string | RegExp) =>
  page.getByRole('region', { name: 'What this means' }).getByText(text).first().waitFor()

/** Reads everything again that is shown later, as after a change in another tab. */
const forgetAnswers = `new Promise((resolve) => {
  const [first, second] = [new BroadcastChannel('countersign'), new BroadcastChannel('countersign')]
  second.onmessage = resolve
  first.postMessage({ kind: 'changed' })
})`

async function addRow(page: Page, total: string): Promise<void> {
  await button(page, 'Add row').click()
  await waitForFocus(totals(page).last())
  await totals(page).last().fill(total)
}

describe('the approval policy', () => {
  const person = browser.stayingPerson({ service })

  beforeEach(() => putPolicy(service, firstPolicy))

  /** Opens the policy as it is stored now. No test leaves a draft. */
  async function open(account: Account = 'admin'): Promise<Page> {
    const page = await visit(person, account, '/account')
    await page.evaluate(forgetAnswers)
    await visit(person, account, path)
    await answered(page)
    return page
  }

  it('is changed by keyboard alone, after a preview of its effect', async () => {
    const page = await visit(person, 'admin', '/')
    await page.getByRole('link', { name: 'Settings' }).press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Approval policy' }).waitFor()
    const rules = page.getByRole('region', { name: 'What this means' }).getByRole('listitem')
    await rules.getByText('6 orders').waitFor()
    await shows(page, 'All orders')
    await button(page, 'Add row').press('Enter')
    await waitForFocus(totals(page))
    await page.keyboard.type('1,000')
    await page.keyboard.press('Tab')
    await waitForFocus(approvals(page).last())
    await page.keyboard.press('3')
    // In the order in which the fields are seen.
    await page.keyboard.press('Tab')
    await waitForFocus(page.getByLabel('Role of one approver').last())
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await shows(page, /three approvals. Any person who may approve can give one, also the creator/)
    await eventually(async () =>
      assert.deepEqual(await rules.locator('.number').allInnerTexts(), ['3 orders', '3 orders']),
    )
    await button(page, 'Save policy').press('Enter')
    await saved(page, [
      policyRow(),
      policyRow({ from: 1_000, approvals: 3, selfApproval: true, services: false }),
    ])
  })

  it('adds, changes and removes rows, in whatever order they are typed', async () => {
    const page = await open()
    await addRow(page, '5000')
    await addRow(page, '200')
    await addRow(page, '70')
    assert.equal(await button(page, 'Remove row 1').count(), 0)
    assert.equal(await page.getByRole('table').count(), 0)
    await button(page, 'Remove row 4').click()
    await waitForFocus(button(page, 'Add row'))
    await page.getByLabel('Creator may approve').first().uncheck()
    await button(page, 'Save policy').click()
    await saved(page, [
      policyRow({ selfApproval: false }),
      policyRow({ from: 200, approvals: 3, selfApproval: false, services: false }),
      policyRow({ from: 5_000, approvals: 2, selfApproval: false, services: false }),
    ])
    await eventually(async () =>
      assert.deepEqual(await totals(page).evaluateAll(values), ['200.00', '5,000.00']),
    )
    assert.equal(await button(page, 'Save policy').getAttribute('aria-disabled'), 'true')
    const requests = listRequests(page)
    await totals(page).first().press('Enter')
    await policyNow()
    assert.equal(requests.includes('PUT /v1/approval-policy'), false)
  })

  it('warns of a row that nobody can satisfy, before it is saved and afterwards', async () => {
    const rule = { approvals_needed: 2, self_approval: 0, service_approval: 0, role_needed: rare }
    const waiting = Array.from({ length: 3 }, () => orderRow({ ...rule, created_at: days(50) }))
    await insertOrders(service, waiting)
    const page = await open()
    await addRow(page, '1000')
    await page.getByLabel('Role of one approver').last().selectOption(rare)
    const words =
      'From 1,000.00: No enabled person with the role Rare may approve orders. 3 pending orders have the same rule.'
    await shows(page, words)
    await button(page, 'Save policy').click()
    await saved(page, [policyRow(), { ...more, role: rare }])
    await open()
    await shows(page, words)
    await page.getByLabel('Role of one approver').last().selectOption('Admin')
    await page.getByText(words).waitFor({ state: 'detached' })
    await button(page, 'Discard changes').click()
  })

  it('asks for the password when it was given long ago, and loses nothing that was typed', async () => {
    const page = await open()
    await addRow(page, '1000')
    service.advance(301_000)
    person.allowFault(/403/)
    const dialog = page.getByRole('dialog')
    await button(page, 'Save policy').click()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Your password is needed for this.').first().waitFor()
    assert.deepEqual(await totals(page).evaluateAll(values), ['1000'])
    assert.deepEqual(await policyNow(), firstPolicy)
    await button(page, 'Save policy').click()
    await dialog.getByLabel('Password').fill(passwordOf('admin').password)
    await dialog.getByLabel('Password').press('Enter')
    await saved(page, [policyRow(), more])
  })

  it('reports that orders cannot be counted, and can still be changed', async () => {
    const page = await open()
    person.expectFault(/400/)
    person.expectFault(/503/)
    await person.network({ answers: 'overloaded', paths: '/v1/orders' })
    await addRow(page, '999.5')
    await shows(page, '…')
    await person.network('normal')
    await shows(page, '4 orders')
    await person.network({ answers: 'filter-too-expensive', paths: '/v1/orders' })
    await totals(page).fill('999.75')
    await shows(page, 'not counted')
    await button(page, 'Save policy').click()
    await saved(page, [policyRow(), { ...more, from: 999.75 }])
    await person.network('normal')
  })

  it('says what is wrong with a total, and saves nothing', async () => {
    const page = await open()
    const missing = page.getByText('Enter the total.')
    const tooLarge = page.getByText(/^The total can be at most/)
    await addRow(page, '100000000000')
    const names = ['inputmode', 'dir', 'spellcheck']
    const attributes = await Promise.all(names.map((name) => totals(page).getAttribute(name)))
    assert.deepEqual(attributes, ['decimal', null, 'false'])
    assert.equal(await tooLarge.count(), 0)
    await page.keyboard.press('Tab')
    await tooLarge.first().waitFor()
    await shows(page, 'Enter valid totals to see the preview.')
    await totals(page).last().fill('1000')
    await addRow(page, '')
    await page.keyboard.press('Tab')
    assert.equal(await missing.count(), 0)
    await button(page, 'Save policy').click()
    await missing.first().waitFor()
    await waitForFocus(totals(page).last())
    await totals(page).last().fill('1,000.00')
    await page.getByText('Another row begins at this total.').first().waitFor()
    await totals(page).last().fill('-5')
    await page.getByText('The total must be greater than 0.').first().waitFor()
    await button(page, 'Discard changes').click()
    assert.deepEqual(await policyNow(), firstPolicy)
  })

  it('keeps what was typed when someone else was first, until the person loads that', async () => {
    const page = await open()
    await addRow(page, '1000')
    await putPolicy(service, [policyRow({ approvals: 4 })])
    person.expectFault(/412/)
    await button(page, 'Save policy').click()
    await conflict(page).waitFor()
    assert.deepEqual(await totals(page).evaluateAll(values), ['1000'])
    await checkAccessibility(page)
    assert.deepEqual(await policyNow(), [policyRow({ approvals: 4 })])
    await button(page, 'Load current version').click()
    await eventually(async () => assert.equal(await totals(page).count(), 0))
    assert.equal(await approvals(page).inputValue(), '4')
    assert.equal(await conflict(page).count(), 0)
  })

  it('keeps unsaved changes while the person looks elsewhere, and discards them on request', async () => {
    const page = await open()
    await addRow(page, '1000')
    await page.getByRole('link', { name: 'Orders', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
    await page.getByRole('link', { name: 'Settings' }).click()
    await eventually(async () => assert.deepEqual(await totals(page).evaluateAll(values), ['1000']))
    await button(page, 'Discard changes').click()
    assert.equal(await totals(page).count(), 0)
    assert.deepEqual(await policyNow(), firstPolicy)
  })

  it('is saved once, however often the button is pressed and even if the answer is lost', async () => {
    const page = await open()
    await addRow(page, '1000')
    const release = await hold(page, `**${'/v1/approval-policy'}`)
    await button(page, 'Save policy').dblclick()
    await button(page, 'Saving …').waitFor()
    assert.equal(await button(page, 'Discard changes').count(), 0)
    assert.equal(await button(page, 'Saving …').getAttribute('aria-disabled'), 'true')
    assert.equal(await button(page, 'Add row').isEnabled(), false)
    await person.network('stopped')
    person.allowFault(/net::ERR_/)
    await release()
    await page
      .getByText(/not responding|offline/)
      .first()
      .waitFor()
    await person.network('normal')
    await button(page, 'Save policy').click()
    await saved(page, [policyRow(), more])
  })

  it('has at most twenty rows', async () => {
    const rows = Array.from({ length: 19 }, (_, index) => policyRow({ from: index * 10 }))
    await putPolicy(service, rows)
    const page = await open()
    assert.equal(await button(page, 'Add row').isEnabled(), true)
    await button(page, 'Add row').click()
    assert.equal(await button(page, 'Add row').isEnabled(), false)
    await button(page, 'Discard changes').click()
  })

  it('is accessible and fits, in both themes', async (t) => {
    await putPolicy(service, [policyRow(), policyRow({ from: 99_999_999_999.9999, approvals: 5 })])
    const page = await open()
    await addRow(page, '')
    const views: Views = {
      async 'policy-faulty'() {
        await totals(page).last().fill('99,999,999,999.9999')
        await page.keyboard.press('Tab')
        await page.getByText('Another row begins at this total.').waitFor()
      },
      async policy() {
        await page.getByLabel('Role of one approver').last().selectOption('Operator')
        await totals(page).last().fill('10000')
        await shows(page, /^\d+ orders$/)
      },
    }
    await lookAt(t, person, views)
    await button(page, 'Discard changes').click()
  })

  it('lets people who may not read the roles type one', async () => {
    const rules = await addRole(service, 'Rules', ['Policy.Manage', 'Orders.Read'])
    const page = await open(await newUser(service, { roles: [rules] }))
    const role = page.getByLabel('Role of one approver')
    await role.fill('Admin')
    await button(page, 'Save policy').click()
    await saved(page, [policyRow({ role: 'Admin' })])
    await role.fill('Boss')
    person.expectFault(/422/)
    await button(page, 'Save policy').click()
    await page.getByText('There is no role Boss.').first().waitFor()
    await button(page, 'Discard changes').click()
  })

  it('can be read by everyone who may read orders; the menu shows it to people who may change it', async () => {
    await putPolicy(service, [policyRow(), policyRow({ from: 1_000, approvals: 2 })])
    const page = await open('operator')
    const table = page.getByRole('table', { name: 'Approval policy' }).getByRole('row')
    await table.last().waitFor()
    const rows = await table.allInnerTexts()
    assert.deepEqual(
      rows.map((row) => row.split(/\s*\t\s*/)),
      [
        ['Total', 'Approvals', 'By its creator', 'By services', 'Role', 'Passkey'],
        ['From 1,000.00', '2', 'Yes', 'Yes', 'Any', 'No'],
        ['All other orders', '1', 'Yes', 'Yes', 'Any', 'No'],
      ],
    )
    for (const name of ['Settings', 'Policy']) assert.equal(await page.getByRole('link', { name }).count(), 0)
    assert.equal(await button(page, 'Save policy').count(), 0)
    await checkAccessibility(page)
  })
})

const values = (fields: unknown[]) => fields.map((field) => (field as { value: string }).value)
