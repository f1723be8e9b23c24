import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { findPasskeys } from '../../server/auth/credentials/passkeys/store.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import { newUser } from '../support/accounts.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { newAuthenticator } from '../support/browser/authenticator.ts'
import { nameCard, signInHeading } from '../support/browser/journeys.ts'
import { followLink, visit } from '../support/browser/orders.ts'
import { openBrowser } from '../support/browser/person.ts'
import { button } from '../support/browser/question.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ inside: true, clockRuns: true, until: { after } })

describe('a passkey', () => {
  const person = browser.samePerson({ service })
  // The address at which this browser reaches the service.
  before(() => Object.assign(service.config, { publicUrl: person.origin }))

  it('is added, named, signs in with one touch, confirms, takes the place of the password, and is removed', async () => {
    const user = await newUser(service, { roles: ['Admin'] })
    const page = await visit(person, user, '/account')
    const authenticator = await newAuthenticator(page)
    const passkeys = page.getByRole('region', { name: 'Passkeys' })
    await passkeys.getByText('No passkeys yet.').waitFor()
    await button(page, 'Add a passkey').click()
    await passkeys.getByText('Not used yet').waitFor()
    await button(page, 'Rename').click()
    await page.getByRole('dialog').getByLabel('Name').fill('My laptop')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await passkeys.getByText('My laptop').waitFor()
    await checkAccessibility(page)

    // The form offers the passkey by itself, and this authenticator takes every offer.
    const offered = page.waitForResponse('**/v1/auth/session/passkey')
    await button(page, 'Sign out').click()
    await offered
    await nameCard(page, user.userName).waitFor()
    await page.evaluate('PublicKeyCredential.isConditionalMediationAvailable = async () => false')
    await button(page, 'Sign out').click()
    await button(page, 'Use a passkey').click()
    await nameCard(page, user.userName).waitFor()
    await followLink(page, '/account')
    await passkeys.getByText('Last used').waitFor()

    service.advance(301_000)
    person.allowFault(/ 403 /)
    await button(page, 'Remove your password').click()
    const dialog = page.getByRole('dialog', { name: 'Confirm it’s you' })
    await dialog.getByRole('button', { name: 'Use a passkey' }).click()
    await dialog.waitFor({ state: 'detached' })
    await button(page, 'Set a password').waitFor()
    assert.equal((await service.client().post('/v1/auth/session', user.credentials)).status, 401)

    person.allowFault(/ 409 /)
    await button(page, 'Remove').click()
    await passkeys.getByText('The account would have no way to sign in').waitFor()
    await page.getByLabel('New password').fill('seven grey herons by the weir')
    await button(page, 'Set a password').click()
    await page.getByLabel('Current password').waitFor()
    // This passkey began the session, which ends with it.
    person.expectFault(/ 401 /)
    await button(page, 'Remove').click()
    await signInHeading(page).waitFor()
    await authenticator.leave()
  })

  it('that was removed meanwhile does not confirm, and is not called a wrong password', async () => {
    const user = await newUser(service)
    const page = await visit(person, user, '/account')
    const authenticator = await newAuthenticator(page)
    await button(page, 'Add a passkey').click()
    await page.getByText('Not used yet').waitFor()
    service.advance(301_000)
    person.allowFault(/ 403 /)
    await button(page, 'Add a passkey').click()
    const dialog = page.getByRole('dialog', { name: 'Confirm it’s you' })
    await dialog.waitFor()
    const [passkey] = await findPasskeys(service.db.read, user.id)
    const stamp = machineStamp(service.now())
    await service.db.write('removePasskey', {
      ...{ principalId: user.id, id: passkey?.id ?? '', rpId: null, issuer: null },
      stamp,
    })
    await dialog.getByRole('button', { name: 'Use a passkey' }).click()
    await dialog.getByText('This passkey no longer belongs to your account.').waitFor()
    await dialog.getByLabel('Password').fill(user.password)
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await dialog.waitFor({ state: 'detached' })
    await authenticator.leave()
  })

  it('is not made or used without a check of its user, and a cancelled touch changes nothing', async () => {
    const user = await newUser(service)
    const page = await visit(person, user, '/account')
    await newAuthenticator(page, { isUserVerified: false })
    const passkeys = page.getByRole('region', { name: 'Passkeys' })
    await button(page, 'Add a passkey').click()
    await passkeys.getByText('No passkey was used.').waitFor()
    await passkeys.getByText('No passkeys yet.').waitFor()
    await button(page, 'Sign out').click()
    await button(page, 'Use a passkey').click()
    await page.getByText('No passkey was used.').waitFor()
    await page.getByLabel('Email').fill(user.email)
    await page.getByLabel('Password').fill(user.password)
    await button(page, 'Sign in').click()
    await nameCard(page, user.userName).waitFor()
  })
})
