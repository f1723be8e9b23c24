import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Cookie, Page, Request } from 'playwright-core'
import { newLink, newUser, type TestUser } from '../support/accounts.ts'
import {
  heading,
  nameCard,
  signInHeading,
  waitForAddress,
  waitForFocus,
} from '../support/browser/journeys.ts'
import { lookAt, type Views } from '../support/browser/looks.ts'
import { eventually, followLink, visit } from '../support/browser/orders.ts'
import { openBrowser, type Person } from '../support/browser/person.ts'
import { button } from '../support/browser/question.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const minute = 60_000
const service = await startService({ clockRuns: true, until: { after } })
const invited = await newUser(service, { roles: ['Admin'] })
/** The password that they set with their link, and the one to which they change it. */
const [firstPassword, newPassword] = ['seven grey herons by the weir', 'nine slow barges under the bridge']
const credentials = { email: invited.email, password: firstPassword }
const user: TestUser = { ...invited, password: firstPassword, credentials }

const places = (page: Page) =>
  page.getByRole('region', { name: 'Where you are signed in' }).getByRole('listitem')
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Confirm it’s you' })

async function atAccount(person: Person): Promise<Page> {
  const { page, origin } = person
  if (page.url() !== `${origin}/account`) await visit(person, user, '/account')
  await places(page).first().waitFor()
  return page
}

async function fillPasswords(page: Page, current: string, password: string): Promise<void> {
  await page.getByLabel('Current password').fill(current)
  await page.getByLabel('New password').fill(password)
}

const linkPage = async (user: TestUser) => {
  const token = await newLink(service, user)
  return { token, address: `/link#${new URLSearchParams({ token, email: user.email })}` }
}

/** A tab stays signed in, even if its request carries the cookie from before a change of the password. */
async function staysSignedIn(tab: Page, before: Cookie[]): Promise<void> {
  const cookie = before.map(({ name, value }) => `${name}=${value}`).join('; ')
  const late = /\/v1\/orders\?/
  await tab.route(
    late,
    async (route) => {
      const headers = { ...route.request().headers(), cookie }
      await route.fulfill({ response: await route.fetch({ headers }) })
    },
    { times: 1 },
  )
  const answered: string[] = []
  tab.on('response', (response) => answered.push(`${response.status()} ${new URL(response.url()).pathname}`))
  await tab.bringToFront()
  await tab.getByRole('link', { name: 'Orders', exact: true }).click()
  await eventually(async () => assert.ok(answered.includes('200 /v1/auth/me'), answered.join('\n')))
  assert.ok(answered.includes('401 /v1/orders'))
  await tab.waitForURL('**/orders')
  await heading(tab, 'Orders').waitFor()
  await nameCard(tab, user.userName).waitFor()
  await tab.close()
}

/** At first, nobody is signed in to this browser. */
describe('a one-time link', () => {
  const person = browser.stayingPerson({ service })

  it('reports that it was used before, or is incomplete, and is replaced by another one opened in the same tab', async () => {
    const [one, other] = [await newUser(service), await newUser(service)]
    const { page } = person
    const used = await linkPage(one)
    await service.client().post('/v1/auth/links/use', { token: used.token, newPassword })
    const [valid, another] = [await linkPage(one), await linkPage(other)]
    const isShown = (email: string) =>
      eventually(async () => assert.equal(await page.getByLabel('Email').inputValue(), email))
    const isNotValid = async () => {
      await page.getByText('The link is not valid').waitFor()
      assert.equal(await page.getByLabel('New password').count(), 0)
    }
    person.expectFault(/ 404 .*\/v1\/auth\/links\/check/)
    await page.goto(used.address)
    await isNotValid()
    // Only the part after the # differs, so the page is not loaded again.
    await page.goto(another.address)
    await isShown(other.email)
    await page.getByLabel('New password').fill('another harbour in the evening')
    await page.goto(valid.address)
    await isShown(one.email)
    assert.equal(await page.getByLabel('New password').inputValue(), '')
    await page.goto(valid.address.replace(/&.*/, ''))
    await isNotValid()
    await page.getByRole('link', { name: 'Sign in' }).click()
    await signInHeading(page).waitFor()
  })

  it('cannot be asked for by mail if the service sends none', async () => {
    const { page } = person
    await followLink(page, '/forgotten')
    await page.getByText('This service sends no mail').waitFor()
    assert.equal(await page.getByLabel('Email').count(), 0)
  })

  it('sets the password and signs in by keyboard alone, is sent nowhere else, and disappears from the address', async () => {
    const { page } = person
    const { token, address } = await linkPage(user)
    const requests: Request[] = []
    page.on('request', (request) => requests.push(request))
    await page.goto(address)
    await heading(page, 'Set your password').waitFor()
    assert.equal(await page.getByLabel('Email').inputValue(), user.email)
    await page.getByLabel('New password').focus()
    await page.keyboard.type(firstPassword)
    await page.getByText('Good: hard to guess.').first().waitFor()
    await page.keyboard.press('Enter')
    await nameCard(page, user.userName).waitFor()
    await waitForAddress(person, '/')
    for (const request of requests.slice()) {
      const head = JSON.stringify([request.url(), await request.allHeaders()])
      assert.ok(!head.includes(token), head)
    }
    assert.ok(requests.some((request) => request.url().endsWith('/v1/auth/links/use')))
    assert.ok(
      !(await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage])')).includes(token),
    )
    person.visitor = user
  })
})

describe('my account', () => {
  const person = browser.stayingPerson({ service })
  const there = browser.samePerson({ service })

  it('is one click away, shows name, email and role, and sets the theme of this browser', async () => {
    const page = await visit(person, user, '/orders')
    await page.getByRole('link', { name: `My account: ${user.userName}` }).press('Enter')
    await heading(page, 'My account').waitFor()
    const about = page.getByRole('region', { name: 'About you' })
    for (const told of [user.userName, user.email, 'Admin']) {
      await about.getByText(told, { exact: true }).waitFor()
    }
    const ground = () => page.evaluate<string>(`getComputedStyle(document.documentElement).colorScheme`)
    assert.equal(await ground(), 'light dark')
    await page.getByRole('radio', { name: 'Dark' }).check()
    assert.equal(await ground(), 'dark')
    await page.reload()
    await heading(page, 'My account').waitFor()
    assert.equal(await ground(), 'dark')
    await page.getByRole('radio', { name: 'Automatic' }).check()
    assert.equal(await ground(), 'light dark')
  })

  it('reports a wrong password and a refused new one next to their fields', async () => {
    const page = await atAccount(person)
    person.expectFault(/ 403 .*\/v1\/auth\/password/)
    await fillPasswords(page, 'not the password', newPassword)
    await button(page, 'Change password').click()
    await page.getByRole('alert').getByText('Wrong password.').waitFor()
    await waitForFocus(page.getByLabel('Current password'))
    person.expectFault(/ 400 .*\/v1\/auth\/password/)
    await fillPasswords(page, firstPassword, firstPassword)
    await button(page, 'Change password').click()
    await page
      .getByText(/^The password is common/)
      .first()
      .waitFor()
    await waitForFocus(page.getByLabel('New password'))
    assert.equal(await page.getByLabel('Current password').inputValue(), firstPassword)
  })

  it('changes the password by keyboard alone, which signs out every other device and no other tab', async () => {
    await atAccount(there)
    const page = await atAccount(person)
    const tab = await page.context().newPage()
    await tab.goto('/account')
    await places(tab).first().waitFor()
    await page.bringToFront()
    const cookies = await page.context().cookies()
    await fillPasswords(page, '', '')
    await page.getByLabel('Current password').focus()
    await page.keyboard.type(firstPassword)
    await page.keyboard.press('Tab')
    await page.keyboard.type('herons')
    await page.getByText('9 more characters').waitFor()
    await page.keyboard.type(' herons herons')
    await page
      .getByText(/^It is common/)
      .first()
      .waitFor()
    await page.getByLabel('New password').fill('')
    await page.keyboard.type(newPassword)
    await page.getByText('Good: hard to guess.').first().waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('Your password has been changed.').first().waitFor()
    await eventually(async () => assert.equal(await page.getByLabel('New password').inputValue(), ''))
    await page.getByRole('link', { name: 'Orders', exact: true }).click()
    await heading(page, 'Orders').waitFor()
    there.expectFault(/ 401 /)
    await there.page.getByRole('link', { name: 'Orders', exact: true }).click()
    await signInHeading(there.page).waitFor()
    await there.page.getByLabel('Email').fill(user.email)
    await there.page.getByLabel('Password').fill(newPassword)
    await there.page.keyboard.press('Enter')
    await nameCard(there.page, user.userName).waitFor()
    person.expectFault(/ 401 .*\/v1\/orders/)
    await staysSignedIn(tab, cookies)
    await page.bringToFront()
    await page.getByRole('link', { name: 'Overview' }).click()
    await nameCard(page, user.userName).waitFor()
  })

  it('asks for the password once to end a sign-in, and ends all others without asking again', async () => {
    await service.client().post('/v1/auth/token', { ...credentials, password: newPassword })
    await followLink(person.page, '/orders')
    service.advance(6 * minute)
    const page = await atAccount(person)
    await places(page).nth(2).waitFor()
    await places(page).first().getByText('This browser').waitFor()
    assert.match(
      (await places(page).first().textContent()) ?? '',
      /^Chrome on \w+ · active [\w ]+This browser$/,
    )
    person.expectFault(/ 403 .*\/v1\/auth\/sessions\//)
    const app = places(page).filter({ hasText: 'Another app' })
    const signOut = app.getByRole('button', { name: 'Sign out' })
    await signOut.press('Enter')
    await dialog(page).waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Nothing was changed').waitFor()
    await waitForFocus(signOut)
    assert.equal(await places(page).count(), 3)
    await signOut.press('Enter')
    await dialog(page).waitFor()
    await waitForFocus(dialog(page).getByLabel('Password'))
    person.expectFault(/ 403 .*\/v1\/auth\/session\/confirm/)
    await page.keyboard.type('not the password')
    await page.keyboard.press('Enter')
    await dialog(page).getByText('Wrong password.').waitFor()
    await page.keyboard.type(newPassword)
    await page.keyboard.press('Enter')
    await page.getByText('Signed out.').first().waitFor()
    await app.waitFor({ state: 'detached' })
    await waitForFocus(page.getByRole('heading', { name: 'Where you are signed in' }))
    await button(page, 'Sign out everywhere else').click()
    await page.getByText('You are signed out everywhere else.').first().waitFor()
    await places(page).nth(1).waitFor({ state: 'detached' })
    assert.equal(await places(page).count(), 1)
    there.expectFault(/ 401 /)
    await there.page.reload()
    await signInHeading(there.page).waitFor()
  })
})

describe('the views of the person’s account', () => {
  const person = browser.stayingPerson({ service })

  it('are accessible in both themes and widths', async (t) => {
    const app = { 'user-agent': `Stock/${'1.2.3-beta+build.'.repeat(12)}` }
    await service.client().post('/v1/auth/token', { ...credentials, password: newPassword }, app)
    const views: Views = {
      async account({ page }) {
        await followLink(page, '/orders')
        await atAccount(person)
        await places(page).nth(1).waitFor()
        await page.getByLabel('New password').fill('password password')
        await page
          .getByText(/^It is common/)
          .first()
          .waitFor()
      },
      async 'account-confirm'({ page }) {
        service.advance(6 * minute)
        person.expectFault(/ 403 .*\/v1\/auth\/sessions/)
        await button(page, 'Sign out everywhere else').click()
        await dialog(page).waitFor()
      },
      async link({ page }) {
        const { address } = await linkPage(user)
        await followLink(page, address)
        await page.getByLabel('New password').fill(newPassword)
        await page.getByText('Good: hard to guess.').first().waitFor()
      },
      async 'link-broken'({ page }) {
        await page.goto('/link#')
        await page.getByText('The link is not valid').waitFor()
      },
    }
    await lookAt(t, person, views)
  })
})
