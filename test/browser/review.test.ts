import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { newUser, signIn as signInElsewhere } from '../support/accounts.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { eventually, storedOrder, visit } from '../support/browser/orders.ts'
import { openBrowser, type Person, screenshot } from '../support/browser/person.ts'
import type { Client } from '../support/client.ts'
import { seal } from '../support/log.ts'
import { createdId } from '../support/orders.ts'
import { type Service, startService } from '../support/service.ts'

const browser = openBrowser()
const pendingByCustomer = '/orders?filter=status%3DPending&orderBy=customer'

interface Scene {
  service: Service
  person: Person
  page: Page
  /** By the customer. */
  ids: Map<string, string>
  colleague: Client
  name: string
  /** Presses a key; all presses are counted. */
  press(key: string): Promise<void>
  presses(): number
}

/** Somebody who is about to review the pending orders of these customers, while a colleague works elsewhere. */
async function aboutToReview(t: TestContext, customers: string[]): Promise<Scene> {
  const service = await startService({ clockRuns: true })
  const person = await browser.person(t, { service, isLive: true })
  t.after(() => service.close())
  const operator = await service.bearer('operator')
  const ids = new Map<string, string>()
  for (const customer of customers) ids.set(customer, await createdId(operator, { customer }))
  await seal(service.db)
  const user = await newUser(service, { roles: ['Admin'] })
  const colleague = await signInElsewhere(service, user)
  const listening = person.page.waitForResponse(/\/v1\/orders\/events/)
  const page = await visit(person, 'admin', pendingByCustomer)
  await listening
  await page.getByRole('link', { name: customers[0] ?? '' }).waitFor()
  let presses = 0
  const press = async (key: string) => {
    presses += 1
    await page.keyboard.press(key)
  }
  return { service, person, page, ids, colleague, name: user.userName, press, presses: () => presses }
}

const shows = (page: Page, customer: string, place: string) =>
  page.getByRole('heading', { level: 1, name: `${place}: Order for ${customer}`, exact: true }).waitFor()

const canDecide = (page: Page) => page.getByRole('button', { name: /^Approve/ }).waitFor()

const numbered = (count: number) =>
  Array.from({ length: count }, (_, at) => `Customer ${String(at + 1).padStart(2, '0')}`)

async function isStored({ service, ids }: Scene, customer: string, status: number): Promise<void> {
  await eventually(async () =>
    assert.equal((await storedOrder(service, ids.get(customer) ?? '')).status, status),
  )
}

describe('a review', () => {
  it('decides twenty orders by keyboard alone with at most two keys each, and shows what others did', async (t) => {
    const customers = numbered(20)
    const scene = await aboutToReview(t, customers)
    const { page, ids, colleague, name, press, presses, service } = scene
    await press('v')
    const others = ['Customer 05', 'Customer 11', 'Customer 17']
    const rejected = ['Customer 04', 'Customer 18']
    for (const [at, customer] of customers.entries()) {
      await shows(page, customer, `${at + 1} of 20`)
      const before = presses()
      if (others.includes(customer)) {
        await page.getByText(new RegExp(`${name}.* has approved this order meanwhile`)).waitFor()
        assert.equal(await page.getByRole('button', { name: /^Approve/ }).count(), 0)
        await press('j')
      } else if (rejected.includes(customer)) {
        await canDecide(page)
        await press('r')
        await page.getByLabel('Reason').waitFor()
        await page.keyboard.insertText('Too dear.')
        await press('Enter')
      } else {
        await canDecide(page)
        await press('a')
        // Asked once, whether to ask.
        if (at === 0) await press('Enter')
      }
      assert.ok(presses() - before <= 2, customer)
      const other = others[at / 6]
      if (other) {
        await colleague.patch(`/v1/orders/${ids.get(other)}/approve`)
        await seal(service.db)
      }
    }
    await page.getByText('You have been through 20 orders. You approved 15 and rejected 2.').waitFor()
    for (const customer of customers) await isStored(scene, customer, rejected.includes(customer) ? 2 : 1)
    await checkAccessibility(page)
    await screenshot(page, 'review-end')
  })
})
