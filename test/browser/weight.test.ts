import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { figuresOf } from '../support/browser/figures.ts'
import { openBrowser, signIn } from '../support/browser/person.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ orders: true, clockRuns: true, until: { after } })

/** The stream of the live list, which this browser leaves out, is the fifteenth request. */
const budget = { scriptBytes: 150_000, scripts: 1, requests: 14 }
const counted = ['script', 'stylesheet', 'font', 'fetch']

it('shows the first list with one script of at most 150 kB, and needs at most 15 requests', async (t) => {
  const person = await browser.person(t, { service })
  const { page } = person
  await signIn(person, 'admin')
  const kinds: string[] = []
  page.on('request', (request) => kinds.push(request.resourceType()))
  // Whatever the list does not need is held back until it is there.
  const shown = Promise.withResolvers<void>()
  const rest = page.waitForRequest(/\/assets\/orders-/)
  const html = await (await fetch(`${service.baseUrl}/orders`)).text()
  await page.route('**/assets/*.js', async (route) => {
    if (!html.includes(new URL(route.request().url()).pathname)) await shown.promise
    await route.continue()
  })
  await page.goto('/orders')
  await page.locator('tr.orders-row a').nth(24).waitFor()
  const { scripts } = await figuresOf(page)
  assert.deepEqual(scripts.encodings, ['br'])
  assert.equal(scripts.count, budget.scripts)
  assert.ok(scripts.encodedBytes <= budget.scriptBytes, `${scripts.encodedBytes} bytes of script`)
  await rest
  shown.resolve()
  await page.waitForLoadState('networkidle')
  const requests = kinds.filter((kind) => counted.includes(kind))
  assert.ok(requests.length <= budget.requests, requests.join())
})
