import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { newUser, setPassword } from '../support/accounts.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import {
  heading,
  hold,
  keepDrawings,
  listRequests,
  nameCard,
  signInByForm,
  signInHeading,
  takeDrawings,
  waitForAddress,
  waitForFocus,
} from '../support/browser/journeys.ts'
import { eventually, followLink } from '../support/browser/orders.ts'
import { openBrowser, type Person, signIn } from '../support/browser/person.ts'
import { brokenConnection } from '../support/browser/watch.ts'
import { createdId } from '../support/orders.ts'
import { passwordOf, startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
await createdId(await service.bearer('operator'), { customer: 'Protected Pencils' })

const failure = ({ page }: Person) => page.getByRole('alert')
const submit = ({ page }: Person) => page.getByRole('button', { name: 'Sign in' })
const password = ({ page }: Person) => page.getByLabel('Password')

async function type({ page }: Person, credentials: { email: string; password: string }): Promise<void> {
  await page.keyboard.type(credentials.email)
  await page.keyboard.press('Tab')
  await page.keyboard.type(credentials.password)
  await page.keyboard.press('Enter')
}

/** Signs out, and lets the browser forget everyone. */
async function forget({ page }: Person): Promise<void> {
  await page.context().clearCookies()
  if (page.url() !== 'about:blank') await page.evaluate('localStorage.clear(); sessionStorage.clear()')
}

describe('signing in', () => {
  const person = browser.stayingPerson({ service })
  beforeEach(() => forget(person))

  it('works by keyboard alone, and reports a wrong password, focuses it and gives nothing away', async () => {
    const user = await newUser(service)
    const { page } = person
    await page.goto('/')
    person.expectFault(/ 401 .*\/v1\/auth\/session\)/)
    await waitForFocus(page.getByLabel('Email'))
    assert.equal(await page.title(), 'Sign in · Countersign')
    await type(person, { email: user.email, password: 'wrong-secret-words' })
    await failure(person).getByText('Wrong email or password.').waitFor()
    await waitForFocus(password(person))
    assert.equal(await page.evaluate('getSelection().toString().length'), 'wrong-secret-words'.length)
    assert.equal(await page.getByLabel('Email').inputValue(), user.email)
    const places = 'JSON.stringify([location.href, localStorage, sessionStorage, history.state])'
    const left = [await page.evaluate(places), await page.context().cookies(), await service.log()]
    assert.doesNotMatch(JSON.stringify(left), /wrong-secret-words/)
    // The next password is typed over the last one.
    await page.keyboard.type(user.password)
    await page.keyboard.press('Enter')
    await waitForFocus(heading(page, new RegExp(user.userName)))
    await waitForAddress(person, '/')
    assert.equal(await page.title(), 'Overview · Countersign')
  })

  it('signs in once, however often the person tries while the service is slow', async () => {
    const user = await newUser(service)
    await person.page.goto('/sign-in')
    await waitForFocus(person.page.getByLabel('Email'))
    const release = await hold(person.page, '**/v1/auth/session')
    const requests = listRequests(person.page)
    await type(person, user.credentials)
    await person.page.getByRole('button', { name: 'Signing in …', disabled: true }).waitFor()
    await person.page.keyboard.press('Enter')
    await release()
    await nameCard(person.page, user.userName).waitFor()
    assert.equal(requests.filter((request) => request === 'POST /v1/auth/session').length, 1)
  })
})

describe('the sign-in form', () => {
  const person = browser.stayingPerson({ service })
  beforeEach(() => forget(person))

  it('leads back to exactly the requested address, without adding to the history', async () => {
    const deep = '/orders?filter=customer%3A%22a+%26+b%22+total%3E%3D1.5&pageSize=50&orderBy=total&order=Desc'
    const { page } = person
    await page.goto('/problems')
    await page.goto(deep)
    await signInHeading(page).waitFor()
    await signInByForm(page, passwordOf('viewer'), heading(page, 'Orders'))
    await waitForAddress(person, deep)
    assert.equal(await page.getByRole('combobox').inputValue(), 'customer:"a & b" total>=1.5')
    await page.goBack()
    await heading(page, 'Problems').waitFor()
    await waitForAddress(person, '/problems')
  })

  it('is not shown for a dead link, unless only the service can say that it is dead', async () => {
    const { page } = person
    const unknown = '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57'
    await page.goto('/')
    for (const dead of [
      '/nowhere',
      '/orders/1042x',
      '/orders/019a9d2e/receipt',
      `/orders/${unknown}/nothing`,
      '/accounts/users/ann',
      '/accounts/services/0',
      '/webhooks/019a9d2e',
    ]) {
      await followLink(page, dead)
      await waitForAddress(person, dead)
      assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Page not found', dead)
    }
    for (const possible of [`/orders/${unknown}`, `/orders/${unknown}/receipt`, '/accounts/users/999999']) {
      await followLink(page, possible)
      await waitForAddress(person, `/sign-in?to=${encodeURIComponent(possible)}`)
      await signInHeading(page).waitFor()
    }
  })

  it('leads to the overview instead of an address on another site', async () => {
    const { page } = person
    await page.goto(`/sign-in?to=${encodeURIComponent('https://evil.example/orders')}`)
    await signInByForm(page, passwordOf('viewer'), heading(page, /viewer/))
    await waitForAddress(person, '/')
    // It is an address of this site that the browser would take for another one.
    await page.goto(`/sign-in?to=${encodeURIComponent('/.//evil.example')}`)
    await heading(page, /viewer/).waitFor()
    await waitForAddress(person, '/')
  })
})

describe('the sign-in form of a development service', () => {
  it('signs in as a demo account in one press, and leads back to the requested address', async (t) => {
    const { person } = await browser.alone(t, { development: true, clockRuns: true })
    const { page } = person
    await page.goto('/approval-policy')
    await page.getByRole('heading', { name: 'Demo accounts' }).waitFor()
    const accounts = page.getByRole('region', { name: 'Demo accounts' }).getByRole('button')
    assert.deepEqual(await accounts.allTextContents(), [
      'admin Admin',
      'operator Operator',
      'viewer Viewer',
      'approver Admin',
    ])
    await checkAccessibility(page)
    await page.getByRole('button', { name: 'approver' }).click()
    await heading(page, 'Approval policy').waitFor()
    await page.getByText('approver').first().waitFor()
  })
})

describe('signing out', () => {
  const person = browser.stayingPerson({ service })

  it('says so if it fails', async () => {
    const { page } = person
    await signIn(person, 'operator')
    await page.goto('/orders', { waitUntil: 'networkidle' })
    await person.network('stopped')
    person.expectFault(brokenConnection)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You may still be signed in. The service is not responding.').waitFor()
    await person.network('normal')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signInHeading(page).waitFor()
  })
})

describe('what a page draws', () => {
  const person = browser.stayingPerson({ service })
  before(async () => {
    await forget(person)
    // Nothing that the page before asks for late is taken for a request of these.
    await person.page.goto('about:blank')
    await keepDrawings(person.page)
  })
  beforeEach(() => forget(person))

  const isThere = 'GET /v1/auth/csrf'
  const asks = ['GET /v1/auth/me', 'GET /v1/auth/me/permissions']
  const splash = ({ page }: Person) => page.locator('main[aria-busy=true]').getByAltText('Countersign')
  const inside = /Orders|Overview|Sign out|Protected Pencils/

  it('is nothing protected without a session, nor is anything requested', async () => {
    const { page } = person
    const requests = listRequests(page)
    const release = await hold(page, '**/v1/auth/csrf')
    await page.goto('/orders')
    await splash(person).waitFor()
    await release()
    await signInHeading(page).waitFor()
    assert.deepEqual(requests, [isThere])
    assert.doesNotMatch(await takeDrawings(page), inside)
  })

  it('is nothing protected until a session is found, and then the app', async () => {
    const { page } = person
    await signIn(person, 'viewer')
    const requests = listRequests(page)
    const release = await hold(page, '**/v1/auth/me{,/permissions}')
    await page.goto('/orders')
    await splash(person).waitFor()
    await eventually(() => assert.deepEqual(requests.toSorted(), [isThere, ...asks]))
    assert.doesNotMatch(await takeDrawings(page), inside)
    await release()
    await page.getByText('Protected Pencils').waitFor()
    assert.doesNotMatch(await takeDrawings(page), /Sign in/)
  })

  it('is the orders once a remembered session is known, though they are requested before', async () => {
    const { page } = person
    const user = await newUser(service)
    await page.goto('/orders')
    await signInByForm(page, user.credentials, page.getByText('Protected Pencils'))
    const requests = listRequests(page)
    const release = await hold(page, '**/v1/auth/me{,/permissions}')
    const list = page.waitForResponse('**/v1/orders?*')
    await page.reload()
    await list
    assert.deepEqual(requests.toSorted(), [...asks, 'GET /v1/orders'])
    assert.doesNotMatch(await takeDrawings(page), inside)
    await release()
    await page.getByText('Protected Pencils').waitFor()
    assert.equal(requests.filter((request) => request === 'GET /v1/orders').length, 1)
    await setPassword(service, user)
    person.expectFault(/ 401 /)
    await page.reload()
    await signInHeading(page).waitFor()
    await person.assertClean()
    await page.reload()
    await signInHeading(page).waitFor()
    assert.deepEqual(requests.slice(-1), [isThere])
  })

  it('is nothing from before a sign-out, when the person goes back', async () => {
    const { page } = person
    await signIn(person, 'operator')
    await page.goto('/orders')
    await page.getByText('Protected Pencils').waitFor()
    await page.getByRole('banner').getByRole('link', { name: 'Overview' }).click()
    await heading(page, /operator/).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
    await waitForFocus(page.getByLabel('Email'))
    const requests = listRequests(page)
    await takeDrawings(page)
    await page.goBack()
    // The next person is not led to where this one was, either.
    await waitForAddress(person, `/sign-in?to=${encodeURIComponent('/')}`)
    await waitForFocus(page.getByLabel('Email'))
    assert.doesNotMatch(await takeDrawings(page), /Protected Pencils|operator/)
    assert.deepEqual(requests, [])
    assert.equal((await page.context().cookies()).length, 0)
    await page.goto('/orders')
    await signInHeading(page).waitFor()
    assert.doesNotMatch(await takeDrawings(page), /Protected Pencils|operator/)
  })
})

/** It takes the clock of the page, so it comes last. */
describe('too many tries to sign in', () => {
  const person = browser.stayingPerson({ service })
  beforeEach(() => forget(person))

  it('are counted down, and nothing is sent in the meantime', async () => {
    const user = await newUser(service)
    await failSignIns(user.email, 11)
    const { page } = person
    await page.clock.install()
    await page.goto('/sign-in')
    person.expectFault(/ 429 .*\/v1\/auth\/session\)/)
    const requests = listRequests(page)
    await waitForFocus(page.getByLabel('Email'))
    await type(person, user.credentials)
    await failure(person).getByText('Too many attempts. The button shows when you can try again.').waitFor()
    const secondsLeft = async () =>
      Number(/^Sign in \(in (\d+) s\)$/.exec((await submit(person).textContent()) ?? '')?.[1])
    await eventually(async () => assert.ok((await secondsLeft()) > 0))
    const before = await secondsLeft()
    assert.equal(await submit(person).isDisabled(), true)
    await waitForFocus(password(person))
    await page.keyboard.press('Enter')
    await submit(person).dispatchEvent('click')
    await page.clock.fastForward('00:05')
    await eventually(async () => assert.ok((await secondsLeft()) <= before - 5))
    assert.equal(await submit(person).isDisabled(), true)
    await page.clock.fastForward('00:40')
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
    assert.equal(requests.filter((request) => request === 'POST /v1/auth/session').length, 1)
    service.advance(60_000)
    await submit(person).click()
    await nameCard(page, user.userName).waitFor()
  })
})

/** Tries one after another, each when the previous wait is over. Eleven tries leave a wait of 32 seconds. */
async function failSignIns(email: string, times: number): Promise<void> {
  for (let tries = 0; tries < times; tries += 1) {
    service.advance(60_000)
    const { status } = await service.client().post('/v1/auth/session', { email, password: 'not this one' })
    assert.equal(status, 401)
  }
}
