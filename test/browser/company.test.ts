import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import { newUser } from '../support/accounts.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { newAuthenticator } from '../support/browser/authenticator.ts'
import { nameCard, signInHeading } from '../support/browser/journeys.ts'
import { openBrowser, signIn } from '../support/browser/person.ts'
import { button, closed, dialog, inDialog } from '../support/browser/question.ts'
import { companyEnv, startProvider } from '../support/company.ts'
import { storedEvents } from '../support/kept-log.ts'
import { createdId } from '../support/orders.ts'
import { policyRow, putPolicy } from '../support/policy.ts'
import { addRole } from '../support/roles.ts'
import { type InsideService, startService } from '../support/service.ts'

const browser = openBrowser()
const provider = await startProvider({ host: '127.0.0.1' })
const env = companyEnv(provider.issuer, { OIDC_NAME: 'Example' })
const service = await startService({ env, inside: true, clockRuns: true, until: { after } })
const roles = { OIDC_NEW_ACCOUNTS: 'create', OIDC_ROLES: 'claim=groups; finance-leads=Finance' }
const creating = await startService({
  env: { ...env, ...roles },
  inside: true,
  clockRuns: true,
  until: { after },
})
after(() => provider.close())

/** A person whose browser reaches the service and the provider at addresses of two sites. */
async function newPerson(t: TestContext, of: InsideService) {
  const person = await browser.person(t, { service: of })
  const { page } = person
  // The address at which this browser reaches the service.
  Object.assign(of.config, { publicUrl: person.origin })
  await provider.servePublicUrl(person.origin)
  provider.sendLogoutsTo(of.baseUrl)
  person.allowFault(/^request to another origin: http:\/\/127\.0\.0\.1:/)
  // The redirect from another site carries no Strict cookie, and needs none.
  person.allowFault(/ExcludeSameSiteStrict/)
  const atProvider = async (account: string) => {
    await page.locator('input[name=account]').fill(account)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  return { person, page, atProvider }
}

describe('a company account', () => {
  it('says what to do, is linked, signs in, confirms, and ends the session when its owner signs out there', async (t) => {
    const { person, page, atProvider } = await newPerson(t, service)
    const user = await newUser(service, { roles: ['Operator'] })

    await page.goto('/orders?filter=status%3DPending')
    await page.getByRole('link', { name: 'Sign in with Example' }).click()
    await atProvider(user.userName)
    await page.getByText('No account here is linked to that company account.').waitFor()
    await checkAccessibility(page)

    await signIn(person, user)
    await page.goto('/account')
    await button(page, 'Link company account').click()
    await page.getByText('You can sign in with Example.', { exact: true }).waitFor()
    await button(page, 'Sign out').click()
    await signInHeading(page).waitFor()

    await page.goto('/orders?filter=status%3DPending')
    await page.getByRole('link', { name: 'Sign in with Example' }).click()
    await nameCard(page, user.userName).waitFor()
    assert.match(page.url(), /\/orders\?filter=status%3DPending$/)

    await page.goto('/account')
    service.advance(301_000)
    person.allowFault(/ 403 /)
    await button(page, 'Unlink company account').click()
    const dialog = page.getByRole('dialog', { name: 'Confirm it’s you' })
    await dialog.getByRole('button', { name: 'Confirm with Example' }).waitFor()
    await checkAccessibility(page)
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    person.allowFault(/ 401 /)
    service.advance(-301_000)
    await provider.logOut(user.userName)
    await page.reload()
    await signInHeading(page).waitFor()
  })
  it('from a first sign-in without a role to an approval by a role of the claim, until the provider logs out', async (t) => {
    await addRole(creating, 'Finance', ['Orders.Read', 'Orders.Approve'])
    // Back to the time of the provider.
    creating.advance(-301_000)
    await putPolicy(creating, [policyRow({ passkey: true })])
    const { person, page, atProvider } = await newPerson(t, creating)
    const mo = { email: 'mo@example.com', email_verified: true, preferred_username: 'mo', name: 'Mo Leads' }
    provider.accounts.set('subject-of-mo', mo)
    const enter = () => page.getByRole('link', { name: 'Sign in with Example' }).click()
    await page.goto('/')
    await enter()
    await atProvider('subject-of-mo')
    await nameCard(page, 'mo').waitFor()
    await page.getByText('no role', { exact: true }).waitFor()

    const admin = await creating.bearer('admin')
    const [account] = (await admin.get('/v1/users?filter=mo')).body.items
    assert.deepEqual([account.roles, account.hasCompanyAccount], [[], true])
    assert.ok(account.lastSignInAtUtc)
    const given = await admin.patch(`/v1/users/${account.id}`, { roles: ['Viewer'] }, { 'if-match': '*' })
    assert.equal(given.status, 204)
    provider.accounts.set('subject-of-mo', { ...mo, groups: ['finance-leads'] })
    await button(page, 'Sign out').click()
    await enter()
    await nameCard(page, 'mo').waitFor()

    await page.goto('/account')
    await newAuthenticator(page)
    await button(page, 'Add a passkey').click()
    await page.getByText('Not used yet').waitFor()
    const id = await createdId(await creating.bearer('operator'), { customer: 'Plover', total: 12 })
    await page.goto(`/orders/${id}`)
    await button(page, /^Approve/).click()
    await dialog(page).getByText('Your passkey signs').waitFor()
    await inDialog(page, 'Approve').click()
    await closed(page)
    await page.getByText('· signed with a passkey').waitFor()
    const [approved] = (await storedEvents(creating.db.read, id)).slice(-1)
    assert.equal(approved?.kind, 'approved')

    person.allowFault(/ 401 /)
    await provider.logOut('subject-of-mo')
    await page.reload()
    await signInHeading(page).waitFor()
  })
})
