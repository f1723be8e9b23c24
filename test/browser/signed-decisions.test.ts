import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { judgeReceipt } from '../../proof/verdict.ts'
import { bearerOf, newUser, type TestUser } from '../support/accounts.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { newAuthenticator, type PageAuthenticator } from '../support/browser/authenticator.ts'
import { holdTime, listRequests, nameCard } from '../support/browser/journeys.ts'
import {
  approvalsOf,
  eventually,
  followLink,
  isAt,
  selectAll,
  storedOrder,
  visit,
} from '../support/browser/orders.ts'
import { answered } from '../support/browser/pages.ts'
import { openBrowser, type Person, screenshot } from '../support/browser/person.ts'
import { button, closed, dialog, inDialog, titled } from '../support/browser/question.ts'
import { storedEvents } from '../support/kept-log.ts'
import { seal } from '../support/log.ts'
import { createdId } from '../support/orders.ts'
import { firstPolicy, policyRow, putPolicy } from '../support/policy.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ inside: true, clockRuns: true, until: { after } })

interface Signer {
  page: Page
  user: TestUser
  authenticator: PageAuthenticator
}

/** An administrator with a passkey, at their account. */
async function enrol(person: Person): Promise<Signer> {
  const user = await newUser(service, { roles: ['Admin'] })
  const { page } = person
  Object.assign(service.config, { publicUrl: person.origin })
  await visit(person, user, '/account')
  const authenticator = await newAuthenticator(page)
  await button(page, 'Add a passkey').click()
  await page.getByText('Not used yet').waitFor()
  return { page, user, authenticator }
}

let signer: Promise<Signer> | undefined
/** The signer of all tests that share a person. */
async function theSigner(person: Person): Promise<Signer> {
  signer ??= enrol(person)
  const one = await signer
  Object.assign(service.config, { publicUrl: person.origin })
  return one
}

const strict = [policyRow({ passkey: true })]
async function strictOrder(customer: string, total = 1250.5): Promise<string> {
  return createdId(await service.bearer('operator'), { customer, total })
}
const statusOf = async (id: string) => (await storedOrder(service, id)).status
const signatureOf = async (id: string) =>
  JSON.parse((await storedEvents(service.db.read, id)).at(-1)?.data ?? '').signature

/** A review of two orders that a passkey has to sign. It no longer explains itself, and its time is held. */
async function review(page: Page, user: TestUser, customer: string) {
  const ids = [await strictOrder(`${customer} One`), await strictOrder(`${customer} Two`)]
  const asks = JSON.stringify(`countersign.review-asks.${user.id}`)
  await page.evaluate(`localStorage.setItem(${asks}, 'no')`)
  const pass = await holdTime(page, service.now())
  const press = async (key: string, place: string) => {
    await page.getByText(place, { exact: true }).waitFor()
    await button(page, /^Approve/).waitFor()
    // The order has to be on the screen for a moment first.
    await pass(250)
    await page.keyboard.press(key)
  }
  await page.goto(`/orders/review?filter=${customer}&orderBy=createdAtUtc&order=Asc`)
  return { ids, pass, press }
}

/** Holds back what the passkey signed until `letGo` is called. */
async function holdTouch(page: Page) {
  await page.evaluate(`{
    globalThis.isTouched = false
    const get = navigator.credentials.get.bind(navigator.credentials)
    const { promise, resolve } = Promise.withResolvers()
    globalThis.letGo = resolve
    // The touch has happened, so that nothing can call it off.
    navigator.credentials.get = async ({ signal, ...options }) => {
      const credential = await get(options)
      globalThis.isTouched = true
      await promise
      return credential
    }
  }`)
  return {
    touched: () => eventually(async () => assert.ok(await page.evaluate('globalThis.isTouched'))),
    letGo: () => page.evaluate('letGo()'),
  }
}

describe('an approval that must be signed', () => {
  const person = browser.stayingPerson({ service })

  it('cannot be given by a person without a passkey, and says how to get one', async () => {
    await putPolicy(service, strict)
    const id = await strictOrder('Stint')
    const page = await visit(person, await newUser(service, { roles: ['Admin'] }), `/orders/${id}`)
    await page.getByText('You need a passkey to sign it.', { exact: false }).waitFor()
    assert.equal(await button(page, /^Approve/).count(), 0)
    await putPolicy(service, firstPolicy)
  })

  it('from the passkey to the receipt: six orders by one touch', async () => {
    const { page, user } = await theSigner(person)
    await page.evaluate('PublicKeyCredential.isConditionalMediationAvailable = async () => false')
    await button(page, 'Sign out').click()
    await button(page, 'Use a passkey').click()
    await nameCard(page, user.userName).waitFor()

    await followLink(page, '/approval-policy')
    await page.getByRole('checkbox', { name: 'Signed with a passkey' }).check()
    await page.getByText('signed with a passkey', { exact: false }).first().waitFor()
    await button(page, 'Save policy').click()
    await page.getByText('Approval policy saved').first().waitFor()

    const ids: string[] = []
    for (let number = 1; number <= 6; number += 1) ids.push(await strictOrder(`Plover ${number}`, number))
    await followLink(page, '/orders?filter=Plover')
    await eventually(async () => assert.equal(await page.locator('tr[data-id]').count(), 6))
    await selectAll(page).check()
    await page.keyboard.press('a')
    await titled(page, 'Approve 6 orders?')
    await dialog(page).getByText('Your passkey signs with one touch: approve 6 orders.').waitFor()
    await checkAccessibility(page)
    await screenshot(page, 'signed-six')
    await inDialog(page, 'Approve 6 orders').click()
    await titled(page, '6 orders approved')
    const signatures = await Promise.all(ids.map(signatureOf))
    const assertions = new Set(signatures.map(({ credential }) => credential.response.signature))
    assert.deepEqual([signatures.length, assertions.size], [6, 1])

    await seal(service.db)
    const caller = await bearerOf(service, user)
    const { receipt } = (await caller.get(`/v1/orders/${ids[3]}/receipt`)).body
    const { order } = await judgeReceipt(receipt, [])
    const signers = order?.approvals.map(({ by, signature }) => [by.name, signature?.issuer])
    assert.deepEqual(signers, [[user.userName, person.origin]])
  })

  it('says next to the button what is signed, and a cancelled touch changes nothing', async () => {
    const { page, user, authenticator } = await theSigner(person)
    await page.setViewportSize({ width: 390, height: 844 })
    await putPolicy(service, strict)
    const id = await strictOrder('Curlew')
    await visit(person, user, `/orders/${id}`)
    await button(page, /^Approve/).click()
    await dialog(page)
      .getByText(/^Your passkey signs: approve #\d+, .?Curlew.?, 1,250\.50\.$/)
      .waitFor()
    await screenshot(page, 'signed-one')
    await authenticator.verifiesUser(false)
    await inDialog(page, 'Approve').click()
    await dialog(page).getByText('No passkey was used. Nothing was sent.').waitFor()
    assert.equal(await statusOf(id), 0)
    await authenticator.verifiesUser(true)
    await inDialog(page, 'Approve').click()
    await closed(page)
    assert.equal(await statusOf(id), 1)
    await page.getByText('· signed with a passkey').waitFor()
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('is not given if its question is left in the moment of the touch', async () => {
    const { page, user } = await theSigner(person)
    await putPolicy(service, strict)
    const id = await strictOrder('Sanderling')
    await visit(person, user, `/orders/${id}`)
    const { touched, letGo } = await holdTouch(page)
    const sent = approvalsOf(page)
    await button(page, /^Approve/).click()
    await inDialog(page, 'Approve').click()
    await touched()
    await page.keyboard.press('Escape')
    await closed(page)
    await letGo()
    await answered(page)
    assert.deepEqual([sent, await statusOf(id)], [[], 0])
    await button(page, /^Approve/).click()
    await inDialog(page, 'Approve').click()
    await closed(page)
    assert.equal(await statusOf(id), 1)
  })
})

/** The time of the page is held, so these come last. */
describe('a signature in a review', () => {
  const person = browser.stayingPerson({ service })

  it('takes its key and a touch, before the time to undo begins', async () => {
    const { page, user } = await theSigner(person)
    await putPolicy(service, strict)
    const { ids, pass, press } = await review(page, user, 'Dunlin')
    await press('a', '1 of 2')
    await page.getByText('2 of 2', { exact: true }).waitFor()
    await button(page, /^Undo/).first().waitFor()
    assert.equal(await statusOf(ids[0] ?? ''), 0)
    await page.keyboard.press('u')
    await press('a', '1 of 2')
    await press('r', '2 of 2')
    await page.getByLabel('Reason').fill('Too dear.')
    await page.keyboard.press('Enter')
    await button(page, 'Undo all').waitFor()
    await pass(5_000)
    await eventually(async () => assert.deepEqual(await Promise.all(ids.map(statusOf)), [1, 2]))
    for (const id of ids) assert.ok(await signatureOf(id))
  })

  it('is not held if the review is left in the moment of the touch', async () => {
    const { page, user } = await theSigner(person)
    await putPolicy(service, strict)
    const { ids, pass, press } = await review(page, user, 'Whinchat')
    const { touched, letGo } = await holdTouch(page)
    const sent = approvalsOf(page)
    const requests = listRequests(page)
    await press('a', '1 of 2')
    await touched()
    // It asks for one touch, however often the key is pressed.
    await page.keyboard.press('a')
    await page.keyboard.press('h')
    await isAt(page, '/')
    // The address changes before the review is gone.
    await page.getByRole('article').waitFor({ state: 'detached' })
    await letGo()
    await answered(page)
    await pass(5_000)
    await answered(page)
    assert.deepEqual([sent, await Promise.all(ids.map(statusOf))], [[], [0, 0]])
    assert.equal(requests.filter((one) => one === 'POST /v1/orders/decisions').length, 1)
  })
})

describe('an authenticator', () => {
  const person = browser.samePerson({ service })

  /** Approves a new order at its page. Returns the id of the passkey that signed it. */
  async function approveOne(page: Page, customer: string): Promise<string> {
    const id = await strictOrder(customer)
    await followLink(page, `/orders/${id}`)
    await button(page, /^Approve/).click()
    await inDialog(page, 'Approve').click()
    await closed(page)
    return (await signatureOf(id)).credential.id
  }

  async function signInByTouch(page: Page): Promise<void> {
    await page.evaluate('PublicKeyCredential.isConditionalMediationAvailable = async () => false')
    await button(page, 'Sign out').click()
    await button(page, 'Use a passkey').click()
  }

  it('that is bound to a device, was cloned and counts behind neither signs nor signs in, and each place says why', async () => {
    const { page, user, authenticator } = await enrol(person)
    await putPolicy(service, strict)
    const cloned = await authenticator.credentials()
    for (const customer of ['Sora', 'Corncrake', 'Moorhen']) await approveOne(page, customer)
    const original = await authenticator.credentials()
    await authenticator.leave()
    const clone = await newAuthenticator(page, { credentials: cloned })
    const id = await strictOrder('Coot')
    await followLink(page, `/orders/${id}`)
    await button(page, /^Approve/).click()
    person.expectFault(/ 403 .*\/approve\)/)
    await inDialog(page, 'Approve').click()
    await titled(page, 'The order was not approved')
    await page
      .getByText(/Its counter is behind/)
      .first()
      .waitFor()
    assert.equal(await statusOf(id), 0)
    await inDialog(page, 'Close').click()
    person.expectFault(/ 401 .*\/passkey\)/)
    await signInByTouch(page)
    await page.getByText(/^The passkey may have been copied/).waitFor()
    const events = (await service.log()).filter(({ event }) => event === 'passkey-counter-went-back')
    assert.deepEqual(
      events.map(({ principalId }) => principalId),
      [user.id, user.id],
    )
    await clone.leave()
    const uncloned = await newAuthenticator(page, { credentials: original })
    await button(page, 'Use a passkey').click()
    await nameCard(page, user.userName).waitFor()
    await uncloned.leave()
  })

  it('signs with its own passkey, whichever of a person’s devices it is', async () => {
    const { page, authenticator: laptop } = await enrol(person)
    await putPolicy(service, strict)
    await button(page, 'Add a passkey').click()
    await page.getByText('This device already has a passkey for your account.').waitFor()
    const kept = await laptop.credentials()
    await laptop.leave()
    const phone = await newAuthenticator(page)
    await button(page, 'Add a passkey').click()
    await eventually(async () => assert.equal(await page.getByText('Not used yet').count(), 2))
    const idsOf = (credentials: typeof kept) =>
      credentials.map(({ credentialId }) => Buffer.from(credentialId, 'base64').toString('base64url'))
    assert.deepEqual([await approveOne(page, 'Teal')], idsOf(await phone.credentials()))
    await phone.leave()
    const again = await newAuthenticator(page, { credentials: kept })
    assert.deepEqual([await approveOne(page, 'Garganey')], idsOf(kept))
    await again.leave()
  })

  it('that keeps no passkeys gets none, and one that it can still use signs orders but signs nobody in', async () => {
    const { page, user, authenticator } = await enrol(person)
    await putPolicy(service, strict)
    const credentials = await authenticator.credentials()
    await authenticator.leave()
    const forgetful = await newAuthenticator(page, { hasResidentKey: false })
    await button(page, 'Add a passkey').click()
    await page.getByText('No passkey was used.').waitFor()
    await forgetful.leave()
    const notKept = credentials.map((credential) => ({ ...credential, isResidentCredential: false }))
    await newAuthenticator(page, { hasResidentKey: false, credentials: notKept })
    assert.ok(await approveOne(page, 'Smew'))
    await signInByTouch(page)
    await page.getByText('No passkey was used.').waitFor()
    assert.equal(await nameCard(page, user.userName).count(), 0)
  })
})
