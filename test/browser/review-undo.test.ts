import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { newUser, setPassword, signIn as signInElsewhere } from '../support/accounts.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { holdTime, signInByForm, signInHeading, waitForFocus } from '../support/browser/journeys.ts'
import { approvalsOf, eventually, focuses, storedOrder, visit } from '../support/browser/orders.ts'
import { openBrowser, screenshot } from '../support/browser/person.ts'
import { createdId } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
const user = await newUser(service, { roles: ['Admin'] })
const colleague = await signInElsewhere(service, await newUser(service, { roles: ['Admin'] }))

interface Scene {
  page: Page
  ids: string[]
  /** Waits until keys are accepted, because the order has to be on the screen for a moment first. */
  look(): Promise<void>
  /** Approves the order at this place by its key, and waits for the next one. */
  approve(number: number): Promise<void>
  /** The stored status of each order. */
  statuses(): Promise<number[]>
}

const lookMilliseconds = 250
const undoMilliseconds = 5_000
const minute = 60_000

const becomes = (scene: Scene, statuses: number[]) =>
  eventually(async () => assert.deepEqual(await scene.statuses(), statuses))

/** The keyboard repeats the key. */
async function holdDown(page: Page, key: string): Promise<void> {
  for (let repeat = 0; repeat < 3; repeat += 1) await page.keyboard.down(key)
  await page.keyboard.up(key)
}

/** Whether the browser still undoes something else by the key. */
const pressUndo = `document.body.dispatchEvent(
  new KeyboardEvent('keydown', { key: 'z', ctrlKey: true, bubbles: true, cancelable: true }))`

const disconnected = /net::ERR_INTERNET_DISCONNECTED/

const held = (page: Page) => page.getByRole('button', { name: 'Undo', exact: true })
const decisions = (page: Page) => page.getByRole('region', { name: 'Your decisions' })

describe('undoing a decision', () => {
  const person = browser.stayingPerson({ service })
  /** Lets time pass at once for the person, whose date otherwise stands still. */
  let pass: (milliseconds: number) => Promise<void>
  let scenes = 0
  before(async () => {
    pass = await holdTime(person.page, service.now())
    await visit(person, user, '/')
    await person.page.evaluate(`localStorage.setItem('countersign.review-asks.${user.id}', 'no')`)
  })

  /** In a review, without confirmation, of three orders of a customer that no other test has. */
  async function inReview(): Promise<Scene> {
    scenes += 1
    const name = `Heron${scenes}`
    const operator = await service.bearer('operator')
    const ids: string[] = []
    for (const place of ['One', 'Two', 'Three'])
      ids.push(await createdId(operator, { customer: `${name} ${place}` }))
    const page = await visit(person, user, `/orders/review?filter=${name}&orderBy=createdAtUtc&order=Asc`)
    const shows = (number: number) => page.getByText(`${number} of 3`, { exact: true }).waitFor()
    const look = async () => {
      await page.getByRole('button', { name: /^Approve/ }).waitFor()
      await pass(lookMilliseconds)
    }
    const approve = async (number: number) => {
      await shows(number)
      await look()
      await page.keyboard.press('a')
      if (number < 3) await shows(number + 1)
    }
    const statuses = () => Promise.all(ids.map(async (id) => (await storedOrder(service, id)).status))
    return { page, ids, look, approve, statuses }
  }

  /** The next scene signs in again. */
  async function isSignedOut(): Promise<void> {
    await signInHeading(person.page).waitFor()
    person.visitor = undefined
  }

  describe('the five seconds to undo a decision', () => {
    it('allow u or Ctrl+Z to undo the latest decision first, and the review returns to its order', async () => {
      const scene = await inReview()
      const { page } = scene
      await scene.approve(1)
      await scene.approve(2)
      // In a field, the key undoes what was typed.
      await page.getByRole('button', { name: /^Reject/ }).click()
      await page.getByLabel('Reason').press('Control+z')
      await page.getByLabel('Reason').press('Escape')
      await scene.approve(3)
      await page.getByRole('heading', { name: 'End of the review' }).waitFor()
      await decisions(page)
        .getByText(/2 more queued/)
        .waitFor()
      const visited = await page.evaluate('history.length')
      await holdDown(page, 'u')
      await page.getByText('3 of 3', { exact: true }).waitFor()
      assert.equal(await page.evaluate('history.length'), visited)
      await page.keyboard.down('Control')
      await holdDown(page, 'z')
      await page.keyboard.up('Control')
      await page.getByText('2 of 3', { exact: true }).waitFor()
      await pass(undoMilliseconds)
      await becomes(scene, [1, 0, 0])
      await held(page).waitFor({ state: 'detached' })
      assert.deepEqual(await scene.statuses(), [1, 0, 0])
      await eventually(async () => assert.equal(await page.evaluate(pressUndo), true))
      await page.getByText('2 of 3', { exact: true }).waitFor()
    })

    it('keep the reason that was typed', async () => {
      const scene = await inReview()
      const { page } = scene
      await scene.look()
      await page.keyboard.press('r')
      await page.keyboard.press('Enter')
      await page.getByText('Enter a reason.').first().waitFor()
      await page.keyboard.type('uja,')
      await page.keyboard.press('Tab')
      await focuses(page, 'Cancel')
      await page.keyboard.press('Enter')
      await page.getByLabel('Reason').waitFor({ state: 'detached' })
      await waitForFocus(page.getByRole('heading', { level: 1 }))
      await page.keyboard.press('r')
      await page.keyboard.press('Escape')
      await page.getByLabel('Reason').waitFor({ state: 'detached' })
      await page.keyboard.press('r')
      await page.keyboard.press('Shift+Enter')
      await page.keyboard.type('too dear')
      await page.getByLabel('Reason').dispatchEvent('keydown', { key: 'Enter', isComposing: true })
      await page.getByLabel('Reason').waitFor()
      await page.keyboard.press('Enter')
      await page.getByText('2 of 3', { exact: true }).waitFor()
      await page.keyboard.press('u')
      await page.getByText('1 of 3', { exact: true }).waitFor()
      await scene.look()
      await page.keyboard.press('r')
      assert.equal(await page.getByLabel('Reason').inputValue(), 'uja,\ntoo dear')
      await page.keyboard.press('Enter')
      await page.getByText('2 of 3', { exact: true }).waitFor()
      await pass(undoMilliseconds)
      await becomes(scene, [2, 0, 0])
    })
  })

  describe('a decision before the sign-out', () => {
    const question = (page: Page, name: string) => page.getByRole('alertdialog', { name })
    const signOut = (page: Page) => page.getByRole('button', { name: 'Sign out', exact: true }).click()

    it('is sent if the user wants that', async () => {
      const scene = await inReview()
      const { page } = scene
      await scene.approve(1)
      await scene.approve(2)
      await signOut(page)
      const asking = question(page, 'Sign out with 2 decisions not sent?')
      await asking.waitFor()
      await screenshot(page, 'review-sign-out')
      await asking.getByRole('button', { name: 'Send and sign out' }).click()
      await isSignedOut()
      assert.deepEqual(await scene.statuses(), [1, 1, 0])
      assert.equal(await page.getByText('not been sent').count(), 0)
    })

    it('stays as it is without a connection', async () => {
      const scene = await inReview()
      const { page } = scene
      await page.getByRole('button', { name: /^Approve/ }).waitFor()
      person.allowFault(disconnected)
      await page.context().setOffline(true)
      await scene.approve(1)
      await signOut(page)
      const asking = question(page, 'Sign out with one decision not sent?')
      await asking.getByRole('button', { name: 'Send and sign out' }).click()
      await asking.getByText('It will go out when you’re back online.').waitFor()
      await asking.getByRole('button', { name: 'Cancel' }).click()
      await page.keyboard.press('u')
      await page.getByText('Undone.').waitFor()
      await page.context().setOffline(false)
      await signOut(page)
      await isSignedOut()
      assert.deepEqual(await scene.statuses(), [0, 0, 0])
    })

    it('keeps the user signed in if it is refused', async () => {
      const scene = await inReview()
      const { page, ids } = scene
      await scene.approve(1)
      await colleague.patch(`/v1/orders/${ids[0]}/reject`, { reason: 'Twice.' })
      person.expectFault(/ 412 .*\/approve\)/)
      await signOut(page)
      await page.getByRole('button', { name: 'Send and sign out' }).click()
      await page.getByText('You are still signed in: not everything could be sent.').waitFor()
      await decisions(page)
        .getByText(/^Not approved: /)
        .waitFor()
      await signOut(page)
      await isSignedOut()
    })
  })

  describe('a decision without a connection', () => {
    it('can be undone as long as it was not sent, by itself or with all others', async () => {
      const scene = await inReview()
      const { page } = scene
      const sent = approvalsOf(page)
      await scene.look()
      person.allowFault(disconnected)
      await page.context().setOffline(true)
      await scene.approve(1)
      await pass(minute)
      await decisions(page)
        .getByText('One decision not sent. It will go out when you’re back online.')
        .first()
        .waitFor()
      await page.keyboard.press('k')
      await page.getByText('Your decision on this order has not been sent yet.').waitFor()
      assert.equal(await page.getByRole('button', { name: /^Approve/ }).count(), 0)
      await page.keyboard.press('j')
      await page.keyboard.press('u')
      await page.getByText('Undone.').waitFor()
      await page.getByText('1 of 3', { exact: true }).waitFor()
      await held(page).waitFor({ state: 'detached' })
      await scene.approve(1)
      await pass(minute)
      await checkAccessibility(page)
      await screenshot(page, 'review-offline')
      await page.context().setOffline(false)
      await becomes(scene, [1, 0, 0])
      await page.getByText('One decision sent.').waitFor()
      assert.equal(sent.length, 1)
    })
  })

  describe('a decision that does not go through', () => {
    it('waits for the next sign-in if the session has ended, and is then sent', async () => {
      const scene = await inReview()
      const { page } = scene
      await scene.approve(1)
      await scene.approve(2)
      await setPassword(service, user)
      person.allowFault(/ 401 /)
      await pass(undoMilliseconds)
      await signInHeading(page).waitFor()
      await page
        .getByText(`2 decisions have not been sent. Sign in as ${user.userName} to send them.`)
        .waitFor()
      await screenshot(page, 'review-sign-in')
      assert.deepEqual(await scene.statuses(), [0, 0, 0])
      await signInByForm(page, user.credentials, held(page))
      await pass(undoMilliseconds)
      await page.getByText('2 decisions sent.').waitFor()
      assert.deepEqual(await scene.statuses(), [1, 1, 0])
    })
  })
})
