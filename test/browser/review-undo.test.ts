import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { newUser, signIn as signInElsewhere, type TestUser } from '../support/accounts.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { endSessions, signInByForm, signInHeading } from '../support/browser/journeys.ts'
import { approvalsOf, eventually, storedOrder, visit } from '../support/browser/orders.ts'
import { inTurn, openBrowser, type Person, screenshot, sideBySide } from '../support/browser/person.ts'
import { brokenConnection } from '../support/browser/watch.ts'
import { createdId } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })

interface Scene {
  page: Page
  user: TestUser
  ids: string[]
  /** Approves the order of this place by its key, and waits for the next one. */
  approve(number: number): Promise<void>
  /** The stored status of each order. */
  statuses(): Promise<number[]>
}

let scenes = 0

/** In a review of three orders of a customer whom no other test has, by a new user who wants no question. */
async function inReview(person: Person): Promise<Scene> {
  scenes += 1
  const name = `Heron${scenes}`
  const operator = await service.bearer('operator')
  const ids: string[] = []
  for (const place of ['One', 'Two', 'Three'])
    ids.push(await createdId(operator, { customer: `${name} ${place}` }))
  const user = await newUser(service, { roles: ['Admin'] })
  const asks = JSON.stringify(`countersign.review-asks.${user.id}`)
  await person.page.addInitScript(`try { localStorage.setItem(${asks}, 'no') } catch {}`)
  const page = await visit(person, user, `/orders/review?filter=${name}&orderBy=createdAtUtc&order=Asc`)
  const shows = (number: number) => page.getByText(`${number} of 3`, { exact: true }).waitFor()
  const approve = async (number: number) => {
    await shows(number)
    await page.getByRole('button', { name: /^Approve/ }).waitFor()
    await page.waitForTimeout(250)
    await page.keyboard.press('a')
    if (number < 3) await shows(number + 1)
  }
  const statuses = () => Promise.all(ids.map(async (id) => (await storedOrder(service, id)).status))
  return { page, user, ids, approve, statuses }
}

const becomes = (scene: Scene, statuses: number[]) =>
  eventually(async () => assert.deepEqual(await scene.statuses(), statuses))

const held = (page: Page) => page.getByRole('button', { name: /^Undo/ })
const decisions = (page: Page) => page.getByRole('region', { name: 'Your decisions' })
const leftInBrowser = (page: Page) =>
  page.evaluate<string[]>(
    `Object.keys(localStorage).filter((name) => name.startsWith('countersign.decision.'))`,
  )
const keepsNothing = (page: Page) => eventually(async () => assert.deepEqual(await leftInBrowser(page), []))

describe('undoing a decision', sideBySide, () => {
  describe('the five seconds to undo a decision', inTurn, () => {
    const person = browser.samePerson({ service })

    it('hold it back, count down, and then it is sent', async () => {
      const scene = await inReview(person)
      const { page } = scene
      const sent = approvalsOf(page)
      await scene.approve(1)
      await decisions(page)
        .getByText(/^Approving .*Heron\d+ One.* \(1\.00\)/)
        .first()
        .waitFor()
      await decisions(page)
        .getByText(/in [45]\u00a0s/)
        .waitFor()
      assert.deepEqual([sent.length, await scene.statuses()], [0, [0, 0, 0]])
      await decisions(page)
        .getByText(/in [123]\u00a0s/)
        .waitFor()
      await becomes(scene, [1, 0, 0])
      await held(page).waitFor({ state: 'detached' })
      await keepsNothing(page)
      assert.equal(sent[0]?.headers['if-match'], '"1"')
    })

    it('end with u or Ctrl and Z, the last decision first, and the review returns to its order', async () => {
      const scene = await inReview(person)
      const { page } = scene
      await scene.approve(1)
      await scene.approve(2)
      await scene.approve(3)
      await page.getByRole('heading', { name: 'End of the review' }).waitFor()
      await decisions(page)
        .getByText(/2 more queued/)
        .waitFor()
      await page.keyboard.press('u')
      await page.getByText('3 of 3', { exact: true }).waitFor()
      await page.keyboard.press('Control+z')
      await page.getByText('2 of 3', { exact: true }).waitFor()
      await becomes(scene, [1, 0, 0])
      await page.waitForTimeout(1_000)
      assert.deepEqual(await scene.statuses(), [1, 0, 0])
      await keepsNothing(page)
    })

    it('keep the reason that was written', async () => {
      const scene = await inReview(person)
      const { page } = scene
      await page.getByRole('button', { name: /^Reject/ }).waitFor()
      await page.waitForTimeout(250)
      await page.keyboard.press('r')
      await page.keyboard.press('Enter')
      await page.getByText('Enter a reason.').first().waitFor()
      await checkAccessibility(page)
      await page.keyboard.type('uja, too dear')
      await page.keyboard.press('Enter')
      await page.getByText('2 of 3', { exact: true }).waitFor()
      await page.keyboard.press('u')
      await page.getByText('1 of 3', { exact: true }).waitFor()
      await page.getByRole('button', { name: /^Reject/ }).waitFor()
      await page.waitForTimeout(250)
      await page.keyboard.press('r')
      assert.equal(await page.getByLabel('Reason').inputValue(), 'uja, too dear')
      await page.keyboard.press('Enter')
      await becomes(scene, [2, 0, 0])
    })

    it('show on every page, and the order offers nothing meanwhile', async () => {
      const scene = await inReview(person)
      const { page, ids } = scene
      await scene.approve(1)
      await page.keyboard.press('k')
      await page.getByText('Your decision about this order is being sent.').waitFor()
      assert.equal(await page.getByRole('button', { name: /^Approve/ }).count(), 0)
      await page.keyboard.press('h')
      await page
        .getByRole('heading', { name: /Good|Overview|Hello|Welcome/ })
        .or(held(page))
        .first()
        .waitFor()
      await held(page).click()
      await held(page).waitFor({ state: 'detached' })
      await page.waitForTimeout(5_200)
      assert.equal((await storedOrder(service, ids[0] ?? '')).status, 0)
    })
  })

  describe('a decision whose page goes', inTurn, () => {
    const person = browser.samePerson({ service })

    it('is sent at once and once, and a reload shows nothing because nothing is wrong', async () => {
      const scene = await inReview(person)
      const { page, ids } = scene
      await scene.approve(1)
      await scene.approve(2)
      await page.reload()
      await page.getByText('3 of 3', { exact: true }).waitFor()
      await keepsNothing(page)
      assert.deepEqual(await scene.statuses(), [1, 1, 0])
      for (const id of ids.slice(0, 2)) assert.equal((await storedOrder(service, id)).version, 2)
      assert.equal(
        await decisions(page)
          .getByText(/approved/)
          .count(),
        0,
      )
      await page.keyboard.press('k')
      await page.getByText(/^Approved by you/).waitFor()
    })

    it('is sent before the session ends with the sign-out', async () => {
      const scene = await inReview(person)
      const { page } = scene
      await scene.approve(1)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await signInHeading(page).waitFor()
      assert.deepEqual(await scene.statuses(), [1, 0, 0])
      await keepsNothing(page)
    })

    it('keeps the person signed in while it cannot be sent', async () => {
      const scene = await inReview(person)
      const { page, ids } = scene
      person.expectFault(/ 503 /)
      await person.network({ answers: 'database-unavailable', paths: `/v1/orders/${ids[0]}/approve` })
      await scene.approve(1)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByText('You are still signed in: some of your decisions could not be sent.').waitFor()
      await decisions(page).getByText('One decision not sent.').waitFor()
      await checkAccessibility(page)
      await person.network('normal')
      await becomes(scene, [1, 0, 0])
    })
  })

  describe('a decision, at the second page of a browser', inTurn, () => {
    const person = browser.samePerson({ service })

    it('is sent when the person goes to another site', async () => {
      await inReview(person)
      await person.page.goto('about:blank')
      // It is there before anything is decided: the page that goes could not wait for it.
      const token = person.page.waitForResponse(/\/v1\/auth\/csrf$/)
      const scene = await inReview(person)
      await token
      await scene.approve(1)
      await scene.page.goto('about:blank')
      await becomes(scene, [1, 0, 0])
    })

    it('is sent when the tab is closed', async () => {
      const scene = await inReview(person)
      const other = await scene.page.context().newPage()
      await scene.approve(1)
      const closed = scene.page.waitForEvent('close')
      await scene.page.close({ runBeforeUnload: true })
      await closed
      await becomes(scene, [1, 0, 0])
      await other.close()
    })
  })

  describe('a decision that does not go through', inTurn, () => {
    const person = browser.samePerson({ service })

    it('waits for a lost connection, and is then sent', async () => {
      const scene = await inReview(person)
      const { page } = scene
      await scene.approve(1)
      person.allowFault(brokenConnection)
      await person.network('stopped')
      await decisions(page).getByText('One decision not sent.').waitFor()
      await screenshot(page, 'review-offline')
      await person.network('normal')
      await becomes(scene, [1, 0, 0])
      await decisions(page).getByText('One decision not sent').waitFor({ state: 'detached' })
    })

    it('says who was faster, and the person goes on meanwhile', async () => {
      const scene = await inReview(person)
      const { page, ids } = scene
      const other = await newUser(service, { roles: ['Admin'] })
      const colleague = await signInElsewhere(service, other)
      await scene.approve(1)
      await colleague.patch(`/v1/orders/${ids[0]}/reject`, { reason: 'Twice.' })
      person.expectFault(/ 412 .*\/approve\)/)
      await decisions(page)
        .getByText(/^Not approved: .*Heron\d+ One.*, 1\.00$/)
        .waitFor()
      await decisions(page)
        .getByText(new RegExp(`Rejected by ${other.userName}`))
        .waitFor()
      await page.getByText('2 of 3', { exact: true }).waitFor()
      await checkAccessibility(page)
      await screenshot(page, 'review-refused')
      await decisions(page).getByRole('link', { name: 'Open the order' }).click()
      await page.getByText('Twice.').waitFor()
      await decisions(page).getByRole('button', { name: 'Dismiss' }).click()
      await decisions(page)
        .getByText(/^Not approved/)
        .waitFor({ state: 'detached' })
      await keepsNothing(page)
    })

    it('is not shown to the next person who signs in', async () => {
      const scene = await inReview(person)
      const { page, user } = scene
      await scene.approve(1)
      await endSessions(service, user)
      person.allowFault(/ 401 /)
      await signInHeading(page).waitFor()
      const other = await newUser(service, { roles: ['Admin'] })
      await signInByForm(page, other.credentials, page.getByText(/ of \d/).first())
      assert.equal(
        await decisions(page)
          .getByText(/approved/)
          .count(),
        0,
      )
      assert.deepEqual(await scene.statuses(), [0, 0, 0])
      assert.equal((await leftInBrowser(page)).length, 1)
      await page.evaluate('localStorage.clear()')
    })

    it('is shown after the next sign-in when the session had ended, and can be sent then', async () => {
      const scene = await inReview(person)
      const { page, user } = scene
      await page.clock.install()
      await page.reload()
      await scene.approve(1)
      await endSessions(service, user)
      person.allowFault(/ 401 /)
      await page.clock.fastForward('00:06')
      await signInHeading(page).waitFor()
      assert.deepEqual(await scene.statuses(), [0, 0, 0])
      await page.clock.fastForward('02:00')
      await signInByForm(page, user.credentials, decisions(page).getByText(/^Perhaps not approved: order /))
      await checkAccessibility(page)
      await decisions(page).getByRole('button', { name: 'Try again' }).click()
      await becomes(scene, [1, 0, 0])
      await decisions(page)
        .getByText(/^Perhaps/)
        .waitFor({ state: 'detached' })
    })
  })
})
