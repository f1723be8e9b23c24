import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import type { Permission } from '../../server/caller/permissions.ts'
import { newSalt } from '../../server/ids.ts'
import { newClient, newUser } from '../support/accounts.ts'
import { leaveAdministrators, newAdministrator } from '../support/administration.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { heading, signInHeading, waitForFocus } from '../support/browser/journeys.ts'
import { lookAt } from '../support/browser/looks.ts'
import { eventually, visit } from '../support/browser/orders.ts'
import { answered } from '../support/browser/pages.ts'
import { openBrowser, type Person } from '../support/browser/person.ts'
import { button } from '../support/browser/question.ts'
import { createdId } from '../support/orders.ts'
import { addRole } from '../support/roles.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
const boss = await newUser(service, { roles: ['Admin'] })

const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true })
const says = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor()
const session = (page: Page) =>
  page.getByRole('region', { name: /^Where .* is signed in$/ }).getByRole('listitem')

/** Adds the person and returns the link that is shown once. */
async function invite(page: Page, email: string, userName: string, role: string): Promise<string> {
  await link(page, 'Invite user').click()
  await heading(page, 'Invite user').waitFor()
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('User name').fill(userName)
  await page.getByLabel(role, { exact: true }).check()
  await button(page, 'Invite').click()
  await waitForFocus(page.getByLabel('Link', { exact: true }))
  return page.getByLabel('Link', { exact: true }).inputValue()
}

describe('accounts', () => {
  const person = browser.stayingPerson({ service })

  it('invite a colleague, who sets a password, signs in and approves, until the session is ended', async (t) => {
    const page = await visit(person, boss, '/')
    await link(page, 'Settings').press('Enter')
    // The arrival at a view takes the focus.
    await page.getByRole('heading', { level: 1 }).and(page.locator(':focus')).waitFor()
    await link(page, 'Users').first().press('Enter')
    await heading(page, 'Users').waitFor()
    const address = await invite(page, 'colleague@example.com', 'colleague', 'Admin')
    const newPassword = 'seven slow herons over the weir'
    const id = await createdId(await service.bearer('operator'))

    const other = await browser.person(t, { service })
    const theirs = other.page
    const { pathname, hash } = new URL(address)
    await theirs.goto(pathname + hash)
    await theirs.getByLabel('New password').fill(newPassword)
    await theirs.keyboard.press('Enter')
    await link(theirs, 'Orders').waitFor()
    await theirs.goto(`/orders/${id}`)
    await button(theirs, 'Approve').click()
    await theirs
      .getByRole('alertdialog')
      .getByRole('button', { name: /^Approve/ })
      .click()
    await eventually(async () => {
      const { body } = await (await service.bearer('admin')).get(`/v1/orders/${id}`)
      assert.deepEqual([body.status, body.modifiedBy], [1, 'colleague'])
    })

    await link(page, 'Open the account').click()
    await heading(page, 'colleague').waitFor()
    await eventually(async () => assert.equal(await session(page).count(), 1))
    await session(page).getByRole('button', { name: 'Sign out' }).click()
    await says(page, 'Not signed in anywhere.')
    other.expectFault(/401/)
    await theirs.reload()
    await signInHeading(theirs).waitFor()
  })

  it('change roles, fields and the switch, and protect the last administrator', async () => {
    const page = await visit(person, boss, '/accounts')
    await link(page, 'viewer').click()
    const tabs = page.getByRole('navigation', { name: 'Settings' })
    await tabs.locator('[aria-current="page"]').getByText('Users').waitFor()
    await page.getByLabel('Operator', { exact: true }).check()
    await page.getByLabel('Time zone').fill('Asia/Tokyo')
    await button(page, 'Save').click()
    await says(page, 'Changes saved')
    const admin = await service.bearer('admin')
    assert.partialDeepStrictEqual((await admin.get('/v1/users/3')).body, {
      roles: ['Operator', 'Viewer'],
      timeZone: 'Asia/Tokyo',
    })
    await button(page, 'Disable').click()
    await says(page, 'Disabled')
    await button(page, 'Enable').click()
    await says(page, 'Enabled')

    await leaveAdministrators(service, [boss])
    await visit(person, boss, `/accounts/users/${boss.id}`)
    person.expectFault(/409/)
    await button(page, 'Disable').click()
    await says(page, 'Someone must be able to manage accounts')
    const { account } = { account: { kind: 'user', name: 'admin' } as const }
    const stamp = {
      eventId: 'back',
      seed: newSalt(),
      nowMilliseconds: service.now(),
      timeZone: null,
      by: 'x',
      byId: null,
    }
    await service.db.write('grantRoles', { account, roles: ['Admin'], stamp })
  })

  it('give a service a secret, a second one alongside it, and an expiry', async () => {
    const page = await visit(person, boss, '/accounts/services')
    await link(page, 'Add service').click()
    await page.getByLabel('Client ID').fill('nightly')
    await page.getByLabel('Name', { exact: true }).fill('Nightly run')
    await page.getByLabel('Viewer', { exact: true }).check()
    await button(page, 'Add').click()
    const secret = page.getByLabel('Secret', { exact: true })
    await waitForFocus(secret)
    const first = await secret.inputValue()
    await link(page, 'Open the service').click()
    await button(page, 'Create new secret').click()
    await waitForFocus(secret)
    const second = await secret.inputValue()
    await says(page, '2 active secrets.')
    const statusOf = async (clientSecret: string) =>
      (await service.client().post('/v1/auth/clients/token', { clientId: 'nightly', clientSecret })).status
    assert.deepEqual([await statusOf(first), await statusOf(second)], [200, 200])
    await button(page, 'End old secret').click()
    await says(page, 'One active secret.')
    assert.deepEqual([await statusOf(first), await statusOf(second)], [401, 200])
    await page.getByLabel('Owner').fill('nobody-at-all')
    await button(page, 'Save').click()
    await says(page, 'There is no user nobody-at-all.')
    await page.getByLabel('Owner').fill(boss.email.toUpperCase())
    await button(page, 'Save').click()
    // The words may still be those of an earlier test.
    await answered(page)
    await says(page, 'Changes saved')
    // A year with an extra digit is a typo. It must not give a service without an end date.
    await page.getByLabel('Expires').fill('20311-12-31')
    await button(page, 'Save').click()
    assert.equal(await page.locator('input[type="date"]:out-of-range').count(), 1)
    await page.getByLabel('Expires').fill('2031-12-31')
    await button(page, 'Save').click()
    await answered(page)
    await says(page, 'Changes saved')
    await link(page, 'Services').first().click()
    await says(page, /Dec 31, 2031|Jan 1, 2032|1 Jan 2032/)
    await page.getByRole('cell', { name: boss.userName }).waitFor()
  })

  it('set the permissions of a role in a table of checkboxes', async () => {
    const page = await visit(person, boss, '/accounts/roles')
    await page.getByLabel('New role').fill('Auditor')
    await button(page, 'Add role').press('Enter')
    const check = page.getByRole('checkbox', { name: 'Auditor: Read the log of all changes' })
    await check.press('Space')
    await says(page, 'Auditor has the permission: Read the log of all changes')
    const admin = await service.bearer('admin')
    assert.deepEqual((await admin.get('/v1/roles/Auditor')).body.permissions, ['Log.Read'])
    await page
      .getByRole('checkbox', { name: 'Auditor: Read the log of all changes', checked: true })
      .waitFor()
    await check.press('Space')
    await says(page, 'Auditor no longer has the permission: Read the log of all changes')
    assert.deepEqual((await admin.get('/v1/roles/Auditor')).body.permissions, [])
    await button(page, 'Remove Auditor').click()
    await eventually(async () => assert.equal(await check.count(), 0))
  })

  it('add a role for auditors by one press', async () => {
    const page = await visit(person, boss, '/accounts/roles')
    // It is sent once: the role could not be added again.
    await button(page, 'Add “Auditor”').dblclick()
    await says(page, 'The role Auditor has been added. It can read all orders and the log.')
    const admin = await service.bearer('admin')
    const { permissions } = (await admin.get('/v1/roles/Auditor')).body
    assert.deepEqual(permissions.toSorted(), ['Log.Read', 'Orders.Read'])
    assert.equal(await button(page, 'Add “Auditor”').count(), 0)
    await button(page, 'Remove Auditor').click()
    await button(page, 'Add “Auditor”').waitFor()
  })

  it('ask for the password on the same page when it was given long ago, and lose nothing', async () => {
    const page = await visit(person, boss, '/accounts/users/2')
    await page.getByLabel('Time zone').fill('Asia/Tokyo')
    service.advance(301_000)
    person.allowFault(/403/)
    await button(page, 'Save').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Password').fill(boss.password)
    await dialog.getByLabel('Password').press('Enter')
    await says(page, 'Changes saved')
    const { body } = await (await service.bearer('admin')).get('/v1/users/2')
    assert.equal(body.timeZone, 'Asia/Tokyo')
  })

  it('keep what was typed when someone else saves first or the switch is pressed', async () => {
    const { caller } = await newAdministrator(service)
    const { id } = await newClient(service)
    const [at, field] = [`/v1/clients/${id}`, 'displayName']
    const [first, second, theirs] = ['The till', 'The old till', 'The new till']
    const page = await visit(person, boss, `/accounts/services/${id}`)
    const input = page.getByLabel('Name', { exact: true })
    await input.fill(first)
    await caller.patch(at, { [field]: theirs })
    person.expectFault(/412/)
    await button(page, 'Save').click()
    await says(page, /^Someone else has changed this/)
    assert.equal(await page.getByText('It has changed since you read it').count(), 0)
    await checkAccessibility(page)
    assert.equal(await input.inputValue(), first)
    assert.equal((await caller.get(at)).body[field], theirs)
    await button(page, 'Load current version').click()
    await waitForFocus(button(page, 'Save'))
    assert.equal(await input.inputValue(), theirs)
    assert.equal(await page.getByText(/^Someone else has changed this/).count(), 0)
    await input.fill(second)
    await button(page, 'Save').click()
    await says(page, 'Changes saved')
    await waitForFocus(button(page, 'Save'))
    assert.equal((await caller.get(at)).body[field], second)
    await input.fill(first)
    await button(page, 'Disable').click()
    await button(page, 'Enable').waitFor()
    assert.equal(await input.inputValue(), first)
    await button(page, 'Save').click()
    // The switch says "Changes saved", too.
    await eventually(async () =>
      assert.partialDeepStrictEqual((await caller.get(at)).body, { [field]: first, enabled: false }),
    )
  })

  it('are listed page by page', async () => {
    const { caller } = await newAdministrator(service)
    for (let number = 100; number < 151; number += 1) {
      const body = { userName: `page-${number}`, email: `page-${number}@example.com`, roles: [] }
      assert.equal((await caller.post('/v1/users', body)).status, 201)
    }
    const page = await visit(person, boss, '/accounts')
    const { totalCount } = (await caller.get('/v1/users?pageSize=1')).body
    const pages = page.getByRole('navigation', { name: 'Pages' })
    await pages.getByText(`1–50 of ${totalCount}`).waitFor()
    person.expectFault(/ERR_FAILED/)
    await page.route('**/v1/users?pageNumber=2*', (route) => route.abort())
    await button(page, 'Next page').press('Enter')
    await says(page, 'The service is not responding')
    // The link back is there, and the focus is where it was.
    await waitForFocus(button(page, 'Next page'))
    await button(page, 'Previous page').press('Enter')
    await eventually(async () =>
      assert.equal(await page.getByText('The service is not responding').count(), 0),
    )
    await pages.getByText(`1–50 of ${totalCount}`).waitFor()
    await page.unroute('**/v1/users?pageNumber=2*')
    await button(page, 'Next page').click()
    await pages.getByText(`51–${Math.min(100, totalCount)} of ${totalCount}`).waitFor()
    assert.equal(await button(page, 'Last page').getAttribute('aria-disabled'), String(totalCount <= 100))
  })

  it('are found by the beginning of a name or an email, from the first page on', async () => {
    const { clientId } = await newClient(service)
    const page = await visit(person, boss, '/accounts')
    await button(page, 'Next page').click()
    const search = page.getByRole('searchbox', { name: 'Search' })
    await search.fill(boss.email.slice(0, 12).toUpperCase())
    await says(page, '1 found')
    assert.deepEqual(await page.getByRole('rowheader').allInnerTexts(), [boss.userName])
    await waitForFocus(search)
    await search.fill('nobody at all')
    await says(page, '0 found')
    await search.fill('')
    await page.getByRole('navigation', { name: 'Pages' }).getByText('1–50 of').waitFor()
    await link(page, 'Services').first().click()
    await heading(page, 'Services').waitFor()
    await search.fill(clientId.toUpperCase())
    await says(page, '1 found')
  })

  it('are accessible and fit, in both themes and widths', async (t) => {
    const places = [
      ['users', '/accounts', 'Users'],
      ['invite', '/accounts/users/new', 'Invite user'],
      ['user', `/accounts/users/${boss.id}`, boss.userName],
      ['services', '/accounts/services', 'Services'],
      ['service', '/accounts/services/5', 'demo-service'],
      ['roles', '/accounts/roles', 'Roles'],
    ] as const
    const views = places.map(([name, path, title]) => {
      const reach = async (person: Person) => {
        const page = await visit(person, boss, path)
        await heading(page, title).waitFor()
        await page.waitForLoadState('networkidle')
      }
      return [`accounts-${name}`, reach] as const
    })
    await lookAt(t, person, Object.fromEntries(views))
  })

  it('are hidden from users who may not manage them', async () => {
    const page = await visit(person, 'operator', '/accounts')
    await says(page, 'You cannot manage accounts')
    for (const name of ['Settings', 'Users', 'Invite user']) assert.equal(await link(page, name).count(), 0)
  })

  it('are tabs of the settings, of which nobody sees more than they may open', async () => {
    const namesFor = async (...permissions: Permission[]) => {
      const role = await addRole(service, `Tabs ${permissions.length}`, permissions)
      const page = await visit(person, await newUser(service, { roles: [role] }), '/')
      await link(page, 'Settings').click()
      await page.locator('main h1').waitFor()
      await page.locator('.side [aria-current="page"]').getByText('Settings').waitFor()
      return page.getByRole('navigation', { name: 'Settings' }).getByRole('link').allTextContents()
    }
    // One tab leaves nothing to choose from.
    assert.deepEqual(await namesFor('Log.Read'), [])
    await heading(person.page, 'Log').waitFor()
    const two = await namesFor('Webhooks.Manage', 'Log.Read')
    assert.deepEqual(two, ['Webhooks', 'Log'])
    await heading(person.page, 'Webhooks').waitFor()
    const all = await namesFor('Log.Read', 'Policy.Manage', 'Webhooks.Manage', 'Accounts.Manage')
    assert.deepEqual(all, ['Policy', 'Users', 'Services', 'Roles', 'Webhooks', 'Log'])
  })
})
