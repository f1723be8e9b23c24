import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { machineStamp } from '../../server/caller/stamp.ts'
import { newUser, type TestUser } from '../support/accounts.ts'
import {
  approvalsOf,
  eventually,
  focusedName,
  latestFirst,
  showsCustomers,
  storedOrder,
  visit,
} from '../support/browser/orders.ts'
import { openBrowser } from '../support/browser/person.ts'
import { approve, dialog, inDialog, titled } from '../support/browser/question.ts'
import { insertOrders, orderRow } from '../support/orders.ts'
import { addRole } from '../support/roles.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })

const pending = { status: 0, version: 1, modifiedBy: null }

async function newOrder(customer: string): Promise<string> {
  const row = orderRow({ customer })
  await insertOrders(service, [row])
  return row.id
}

/** A user whose role may be changed without affecting anyone else. */
async function newApprover(name: string): Promise<{ user: TestUser; role: string }> {
  const role = await addRole(service, name, ['Orders.Read', 'Orders.Approve', 'Orders.Create'])
  return { user: await newUser(service, { roles: [role] }), role }
}

/**
 * Does what the administration command does, and moves the clock 5 minutes on, until the service no longer
 * caches the role.
 */
async function forbidToApprove(role: string): Promise<void> {
  const stamp = machineStamp(service.now())
  await service.db.write('denyPermissions', { role, permissions: ['Orders.Approve'], stamp })
  service.advance(301_000)
}

for (const account of ['viewer', 'operator'] as const) {
  describe(`a ${account}`, () => {
    const person = browser.stayingPerson({ service })

    it('finds no checkboxes in the list, and neither button nor key to approve an order', async () => {
      await insertOrders(service, latestFirst([`${account} one`, `${account} two`]))
      const page = await visit(person, account, `/orders?filter=${account}`)
      const sent = approvalsOf(page)
      await showsCustomers(page, [`${account} one`, `${account} two`])
      assert.equal(await page.getByRole('table').getByRole('checkbox').count(), 0)
      for (const key of ['j', 'x', 'a']) await page.keyboard.press(key)
      assert.equal(await focusedName(page), `${account} one`)
      assert.equal(await page.getByText('selected').count(), 0)
      assert.equal(await dialog(page).count(), 0)
      await page.keyboard.press('Enter')
      await page.getByText('Waiting for approval').waitFor()
      assert.equal(await approve(page).count(), 0)
      await page.keyboard.press('a')
      assert.equal(await dialog(page).count(), 0)
      assert.deepEqual(sent, [])
    })
  })
}

describe('a permission that is taken away', () => {
  const person = browser.stayingPerson({ service })

  it('refuses an open confirmation, says why, and removes the button', async () => {
    const { user, role } = await newApprover('ends-asking')
    const id = await newOrder('Acme')
    const page = await visit(person, user, `/orders/${id}`)
    await approve(page).click()
    await titled(page, 'Approve this order?')
    await forbidToApprove(role)
    person.expectFault(/ 403 .*\/approve\)/)
    // The dialog closes before the new permissions arrive: the button gets the focus once more, and
    // disappears with it.
    await person.network({ slowBySeconds: 0.5 })
    await inDialog(page, 'Approve').click()
    await titled(page, 'The order was not approved')
    await dialog(page).getByText('Your role no longer lets you approve orders.').waitFor()
    assert.equal(await inDialog(page, 'Try again').count(), 0)
    await page.keyboard.press('Escape')
    await dialog(page).waitFor({ state: 'detached' })
    await approve(page).waitFor({ state: 'detached' })
    await page.keyboard.press('a')
    assert.equal(await dialog(page).count(), 0)
    await eventually(async () => assert.equal(await focusedName(page), 'Order for Acme'))
    assert.deepEqual(await storedOrder(service, id), pending)
    await person.network('normal')
  })
})
