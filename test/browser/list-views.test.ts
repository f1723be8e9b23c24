import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { lookAt, type Views } from '../support/browser/looks.ts'
import {
  eventually,
  focuses,
  isAt,
  latestFirst,
  openMenu,
  showsCustomers,
  visit,
} from '../support/browser/orders.ts'
import { openBrowser } from '../support/browser/person.ts'
import { button } from '../support/browser/question.ts'
import { insertOrders } from '../support/orders.ts'
import { startService } from '../support/service.ts'
import { keptView } from '../support/views.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
await insertOrders(service, [
  ...latestFirst(['Acme', 'Basil']),
  ...latestFirst(['Cedar'], {
    status: 1,
    version: 2,
    modified_by: 'admin',
    approved_by: 'admin',
    updated_at: Date.UTC(2026, 0, 2),
  }),
])

const dialog = (page: Page) => page.getByRole('dialog')
const headings = (page: Page) => page.getByRole('columnheader').allInnerTexts()
const pendingFirst = '/orders?filter=status%3DPending&orderBy=customer&order=Desc'

describe('views of the list', () => {
  const person = browser.stayingPerson({ service })

  it('are saved, found, opened, changed and deleted, by the keyboard alone', async () => {
    const page = await visit(person, 'operator', pendingFirst)
    await showsCustomers(page, ['Basil', 'Acme'])
    await page.keyboard.press('l')
    await dialog(page).getByText('under a name').waitFor()
    const press = async (name: string) => {
      const within = (role: 'button' | 'link') => dialog(page).getByRole(role, { name, exact: true })
      await within('button').or(within('link')).first().waitFor()
      for (let tabs = 0; tabs < 12; tabs += 1) {
        if (
          (await page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent')) ===
          name
        )
          return page.keyboard.press('Enter')
        await page.keyboard.press('Tab')
      }
      return assert.fail(`${name} cannot be reached`)
    }
    await press('Save this list as a view')
    await page.keyboard.type('What waits')
    await page.keyboard.press('Enter')
    await dialog(page).getByRole('link', { name: 'What waits' }).waitFor()
    await page.keyboard.press('Escape')
    await button(page, 'View: What waits').waitFor()

    await visit(person, 'operator', '/orders')
    await eventually(async () => assert.equal(await page.locator('tr[data-id]').count(), 3))
    await button(page, 'View').focus()
    await page.keyboard.press('Enter')
    await press('What waits')
    await isAt(page, `${pendingFirst}&columns=customer%2Ctotal%2Cstatus%2CcreatedAtUtc`)
    await showsCustomers(page, ['Basil', 'Acme'])
    await focuses(page, 'View: What waits')

    await page.keyboard.press('l')
    await press('Change What waits')
    await eventually(async () => assert.equal(await page.getByLabel('Name').inputValue(), 'What waits'))
    await page.keyboard.press('Control+A')
    await page.keyboard.type('Waiting')
    await page.keyboard.press('Enter')
    await dialog(page).getByRole('link', { name: 'Waiting' }).waitFor()
    await press('Change Waiting')
    await page.getByLabel('Name').waitFor()
    await press('Delete')
    await press('Really delete?')
    await dialog(page).getByText('under a name').waitFor()
  })

  it('say why they cannot be saved, and lose nothing that was typed', async () => {
    const viewer = await service.bearer('viewer')
    await keptView(viewer, { name: 'Taken' })
    const page = await visit(person, 'viewer', '/orders')
    person.expectFault(/ 409 .*\/v1\/views\//)
    await openMenu(page, 'View')
    await button(page, 'Save this list as a view').click()
    await page.getByLabel('Name').fill('TAKEN')
    await page.keyboard.press('Enter')
    await dialog(page).getByText('Another view has this name').waitFor()
    await page.getByLabel('Name').fill('Free')
    await page.keyboard.press('Enter')
    await dialog(page).getByRole('link', { name: 'Free' }).waitFor()
  })
})

describe('columns of the list', () => {
  const person = browser.stayingPerson({ service })
  const usual = ['Customer', 'Total', 'Status', 'Created']
  const choose = async (page: Page, names: string[]) => {
    await openMenu(page, 'View')
    for (const name of names) await dialog(page).getByRole('checkbox', { name }).check()
    await page.keyboard.press('Escape')
  }
  const cellsOf = (page: Page, customer: string) =>
    page.getByRole('row').filter({ hasText: customer }).getByRole('cell').allInnerTexts()

  it('are chosen, kept in this browser and reset; an address that names some has precedence', async () => {
    const page = await visit(person, 'viewer', '/orders')
    await eventually(async () => assert.deepEqual(await headings(page), usual))
    await choose(page, ['Created by', 'Approved by', 'Approvals missing', 'Updated', 'Number'])
    const all = [
      ...usual.toSpliced(1, 0, 'Number'),
      'Created by',
      'Approved by',
      'Approvals missing',
      'Updated',
    ]
    await eventually(async () => assert.deepEqual(await headings(page), all))
    await isAt(page, '/orders')
    await eventually(async () => {
      assert.deepEqual((await cellsOf(page, 'Cedar')).slice(-4), [
        'operator',
        'admin',
        '–',
        'Jan 2, 2026, 12:00 AM',
      ])
      assert.deepEqual((await cellsOf(page, 'Acme')).slice(-4), ['operator', '–', '1', '–'])
    })
    await page.reload()
    await eventually(async () => assert.deepEqual(await headings(page), all))
    await button(page, 'Updated').click()
    await isAt(page, '/orders?orderBy=updatedAtUtc&order=Desc')
    await openMenu(page, 'View')
    assert.ok(await dialog(page).getByRole('checkbox', { name: 'Customer' }).isDisabled())
    await button(page, 'Reset to default').click()
    await page.keyboard.press('Escape')
    await eventually(async () => assert.deepEqual(await headings(page), usual))
    await visit(person, 'viewer', '/orders?columns=status,nonsense,createdBy')
    await eventually(async () => assert.deepEqual(await headings(page), ['Customer', 'Status', 'Created by']))
    await choose(page, ['Total'])
    await isAt(page, '/orders?columns=customer%2Ctotal%2Cstatus%2CcreatedBy')
    await visit(person, 'viewer', '/orders')
    await eventually(async () => assert.deepEqual(await headings(page), usual))
  })
})

const views: Views = {
  async 'views-none'({ page }) {
    await openMenu(page, 'View')
    await dialog(page).getByText('under a name').waitFor()
  },
  async 'views-keep'({ page }) {
    await button(page, 'Save this list as a view').click()
    await page
      .getByLabel('Name')
      .fill('A name that goes on and on, as long as a name may be, and then some more of it')
  },
  async 'views-one'({ page }) {
    await button(page, 'Save').click()
    await dialog(page).getByRole('link').waitFor()
    await page.evaluate('document.activeElement.blur()')
  },
  async 'views-change'({ page }) {
    await button(page, /^Change A name/).click()
    await button(page, 'Delete').waitFor()
  },
  async 'columns-choice'({ page }) {
    await page.keyboard.press('Escape')
    await openMenu(page, 'View')
    for (const name of ['Number', 'Created by', 'Approved by', 'Approvals missing', 'Updated'])
      await dialog(page).getByRole('checkbox', { name }).check()
  },
  async 'columns-all'({ page }) {
    await page.keyboard.press('Escape')
    await page.getByRole('row').filter({ hasText: 'Cedar' }).getByText('admin').waitFor()
  },
}

describe('the views and columns of the list', () => {
  const person = browser.stayingPerson({ service })

  it('are accessible, in both themes and widths', async (t) => {
    await visit(person, 'admin', '/orders')
    await lookAt(t, person, views)
  })
})
