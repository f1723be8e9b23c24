import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page, Request } from 'playwright-core'
import { newLink, newUser, type TestUser, tokenPair } from '../support/accounts.ts'
import {
  heading,
  nameCard,
  signInHeading,
  waitForAddress,
  waitForFocus,
} from '../support/browser/journeys.ts'
import { lookAt, type Views } from '../support/browser/looks.ts'
import { eventually } from '../support/browser/orders.ts'
import { openBrowser, type Person, signIn } from '../support/browser/person.ts'
import { button } from '../support/browser/question.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const minute = 60_000
const newPassword = 'seven grey herons by the weir'
const service = await startService({ clockRuns: true, until: { after } })

const places = (page: Page) =>
  page.getByRole('region', { name: 'Where you are signed in' }).getByRole('listitem')
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Confirm it’s you' })

async function atAccount(person: Person, user: TestUser): Promise<Page> {
  await signIn(person, user)
  await person.page.goto('/account')
  await heading(person.page, 'My account').waitFor()
  await places(person.page).first().waitFor()
  return person.page
}

async function fillPasswords(page: Page, user: TestUser, password = newPassword): Promise<void> {
  await page.getByLabel('Current password').fill(user.password)
  await page.getByLabel('New password').fill(password)
}

const linkPage = async (user: TestUser) => {
  const token = await newLink(service, user)
  return { token, address: `/link#${new URLSearchParams({ token, email: user.email })}` }
}

/** At first, nobody is signed in to this browser. */
describe('a one-time link', () => {
  const person = browser.stayingPerson({ service })

  it('cannot be asked for by mail if the service sends none', async () => {
    const { page } = person
    await page.goto('/forgotten')
    await page.getByText('This service sends no mail').waitFor()
    assert.equal(await page.getByLabel('Email').count(), 0)
  })

  it('reports that it was used before, or is incomplete', async () => {
    const user = await newUser(service)
    const { page } = person
    const { token, address } = await linkPage(user)
    await service.client().post('/v1/auth/links/use', { token, newPassword })
    person.expectFault(/ 404 .*\/v1\/auth\/links\/check/)
    await page.goto(address)
    await page.getByText('The link is not valid').waitFor()
    assert.equal(await page.getByLabel('New password').count(), 0)
    await page.goto('/')
    await page.goto(address.replace(/&.*/, ''))
    await page.getByText('The link is not valid').waitFor()
    await page.getByRole('link', { name: 'Sign in' }).click()
    await signInHeading(page).waitFor()
  })

  it('is replaced by another one opened in the same tab', async () => {
    const [one, other] = [await newUser(service), await newUser(service)]
    const { page } = person
    const [voided, valid] = [await linkPage(one), await linkPage(one)]
    const { address } = await linkPage(other)
    await page.goto('/link')
    await page.getByText('The link is not valid').waitFor()
    // Only the part after the # differs, so the page is not loaded again.
    person.expectFault(/ 404 .*\/v1\/auth\/links\/check/)
    await page.goto(voided.address)
    await page.getByText('The link is not valid').waitFor()
    await page.goto(address)
    await eventually(async () => assert.equal(await page.getByLabel('Email').inputValue(), other.email))
    await page.getByLabel('New password').fill('another harbour in the evening')
    await page.goto(valid.address)
    await eventually(async () => assert.equal(await page.getByLabel('Email').inputValue(), one.email))
    assert.equal(await page.getByLabel('New password').inputValue(), '')
  })

  it('sets the password and signs in by keyboard alone, is sent nowhere else, and disappears from the address', async () => {
    const user = await newUser(service)
    const { page } = person
    const { token, address } = await linkPage(user)
    const requests: Request[] = []
    page.on('request', (request) => requests.push(request))
    await page.goto(address)
    await heading(page, 'Set your password').waitFor()
    assert.equal(await page.getByLabel('Email').inputValue(), user.email)
    await page.getByLabel('New password').focus()
    await page.keyboard.type(newPassword)
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
  })
})

describe('my account', () => {
  const person = browser.stayingPerson({ service })

  it('is one click away, and shows name, email and role', async () => {
    const user = await newUser(service, { roles: ['Viewer'] })
    await signIn(person, user)
    const { page } = person
    await page.goto('/')
    await page.getByRole('link', { name: `My account: ${user.userName}` }).press('Enter')
    await heading(page, 'My account').waitFor()
    const about = page.getByRole('region', { name: 'About you' })
    for (const told of [user.userName, user.email, 'Viewer']) {
      await about.getByText(told, { exact: true }).waitFor()
    }
  })

  it('sets the theme of this browser', async () => {
    const page = await atAccount(person, await newUser(service))
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

  it('changes the password by keyboard alone, which signs out every other device', async (t) => {
    const user = await newUser(service)
    const there = await browser.person(t, { service })
    await atAccount(there, user)
    const page = await atAccount(person, user)
    await page.getByLabel('Current password').focus()
    await page.keyboard.type(user.password)
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
  })

  it('keeps another tab signed in, even if its request carried the cookie from before the change', async () => {
    const user = await newUser(service)
    const page = await atAccount(person, user)
    const tab = await page.context().newPage()
    await tab.goto('/account')
    await places(tab).first().waitFor()
    const cookies = await page.context().cookies()
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    await fillPasswords(page, user)
    await button(page, 'Change password').click()
    await page.getByText('Your password has been changed.').first().waitFor()
    person.expectFault(/ 401 .*\/v1\/orders/)
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
    tab.on('response', (response) =>
      answered.push(`${response.status()} ${new URL(response.url()).pathname}`),
    )
    await tab.bringToFront()
    await tab.getByRole('link', { name: 'Orders', exact: true }).click()
    await eventually(async () => assert.ok(answered.includes('200 /v1/auth/me'), answered.join('\n')))
    assert.ok(answered.includes('401 /v1/orders'))
    await tab.waitForURL('**/orders')
    await heading(tab, 'Orders').waitFor()
    await nameCard(tab, user.userName).waitFor()
    await tab.close()
    await page.getByRole('link', { name: 'Overview' }).click()
    await nameCard(page, user.userName).waitFor()
  })

  it('reports a wrong password and a refused new one next to their fields', async () => {
    const user = await newUser(service)
    const page = await atAccount(person, user)
    person.expectFault(/ 403 .*\/v1\/auth\/password/)
    await fillPasswords(page, { ...user, password: 'not the password' })
    await button(page, 'Change password').click()
    await page.getByRole('alert').getByText('Wrong password.').waitFor()
    await waitForFocus(page.getByLabel('Current password'))
    person.expectFault(/ 400 .*\/v1\/auth\/password/)
    await fillPasswords(page, user, 'quiet harbour lanterns at dusk')
    await button(page, 'Change password').click()
    await page
      .getByText(/^The password is common/)
      .first()
      .waitFor()
    await waitForFocus(page.getByLabel('New password'))
    assert.equal(await page.getByLabel('Current password').inputValue(), user.password)
  })

  it('asks for the password once to end a sign-in, and ends all others without asking again', async (t) => {
    const user = await newUser(service)
    await tokenPair(service, user)
    const page = await atAccount(person, user)
    const third = await browser.person(t, { service })
    await atAccount(third, user)
    service.advance(6 * minute)
    await page.reload()
    await places(page).nth(2).waitFor()
    await places(page).first().getByText('This browser').waitFor()
    // The session came from Node, whose user agent is no browser’s.
    assert.match((await places(page).first().textContent()) ?? '', /^Browser · active [\w ]+This browser$/)
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
    await page.keyboard.type(user.password)
    await page.keyboard.press('Enter')
    await page.getByText('Signed out.').first().waitFor()
    await app.waitFor({ state: 'detached' })
    await waitForFocus(page.getByRole('heading', { name: 'Where you are signed in' }))
    await button(page, 'Sign out everywhere else').click()
    await page.getByText('You are signed out everywhere else.').first().waitFor()
    await places(page).nth(1).waitFor({ state: 'detached' })
    assert.equal(await places(page).count(), 1)
    third.expectFault(/ 401 /)
    await third.page.reload()
    await signInHeading(third.page).waitFor()
  })
})

describe('the views of the person’s account', () => {
  const person = browser.stayingPerson({ service })

  it('are accessible in both themes and widths', async (t) => {
    const user = await newUser(service, { roles: ['Admin'] })
    const app = { 'user-agent': `Stock/${'1.2.3-beta+build.'.repeat(12)}` }
    await service.client().post('/v1/auth/token', user.credentials, app)
    const views: Views = {
      async account() {
        await atAccount(person, user)
        await person.page.getByText(user.email, { exact: true }).waitFor()
      },
      async 'account-password'({ page }) {
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
        await page.goto('/problems')
        await page.goto(address)
        await page.getByLabel('New password').fill(newPassword)
        await page.getByText('Good: hard to guess.').first().waitFor()
      },
      async 'link-broken'({ page }) {
        await page.goto('/problems')
        await page.goto('/link')
        await page.getByText('The link is not valid').waitFor()
      },
    }
    await lookAt(t, person, views)
  })
})
