import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { newUser } from '../support/accounts.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { nameCard, signInHeading } from '../support/browser/journeys.ts'
import { openBrowser, signIn } from '../support/browser/person.ts'
import { button } from '../support/browser/question.ts'
import { companyEnv, startProvider } from '../support/company.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const provider = await startProvider({ host: '127.0.0.1' })
const env = companyEnv(provider.issuer, { OIDC_NAME: 'Example' })
const service = await startService({ env, inside: true, clockRuns: true, until: { after } })
after(() => provider.close())

describe('a company account', () => {
  it('says what to do, is linked, signs in, confirms, and ends the session when its owner signs out there', async (t) => {
    const person = await browser.person(t, { service })
    const user = await newUser(service, { roles: ['Operator'] })
    const { page } = person
    // The address at which this browser reaches the service.
    Object.assign(service.config, { publicUrl: person.origin })
    await provider.servePublicUrl(person.origin)
    provider.sendLogoutsTo(service.baseUrl)
    person.allowFault(/^request to another origin: http:\/\/127\.0\.0\.1:/)
    // The redirect from another site carries no Strict cookie, and needs none.
    person.allowFault(/ExcludeSameSiteStrict/)
    const atProvider = async () => {
      await page.locator('input[name=account]').fill(user.userName)
      await page.getByRole('button', { name: 'Sign in' }).click()
    }

    await page.goto('/orders?filter=status%3DPending')
    await page.getByRole('link', { name: 'Sign in with Example' }).click()
    await atProvider()
    await page.getByText('No account here is linked to that company account.').waitFor()
    await checkAccessibility(page)

    await signIn(person, user)
    await page.goto('/account')
    await button(page, 'Link company account').click()
    await page.getByText('You can sign in with Example.').waitFor()
    await button(page, 'Sign out').click()

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
})
