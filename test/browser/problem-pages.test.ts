import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { catalogue, type ProblemCode } from '../../server/problems/catalogue.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { heading, listRequests, waitForAddress, waitForFocus } from '../support/browser/journeys.ts'
import { openBrowser, sideBySide } from '../support/browser/person.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
const codes = Object.keys(catalogue)

/** test/web/problems/ tests the words of each. */
async function showsProblem(page: Page, code: string): Promise<void> {
  const { status, title, remedy } = catalogue[code as ProblemCode]
  const article = page.getByRole('article')
  await article.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
  const words = (await article.textContent()) ?? ''
  const [head = '', example = ''] = words.split('Example response')
  assert.ok(head.includes(`${title}${code}${status} `), head)
  assert.ok(head.includes(remedy.replaceAll('`', '')), head)
  const answer = JSON.parse(example.slice(example.indexOf('{'), example.lastIndexOf('}') + 1))
  assert.deepEqual([answer.code, answer.title, answer.status], [code, title, status])
}

describe('the page of a problem', () => {
  const person = browser.samePerson({ service })

  it('is the page that the type of a real problem leads to, even without an account', async () => {
    const viewer = await service.bearer('viewer')
    const { body } = await viewer.post('/v1/orders', { customer: 'Acme', total: 1 })
    assert.equal(body.code, 'permission-denied')
    const { page } = person
    await page.goto(new URL(body.type).pathname)
    await heading(page, body.title).waitFor()
    assert.equal(await page.title(), `${body.title} · Countersign`)
    await page.getByText(`/problems/${body.code}`).waitFor()
  })

  it('says what the service says, links to its neighbours, and sends the API no requests', async () => {
    const { page } = person
    const requests = listRequests(page)
    await page.goto('/problems')
    const links = page.getByRole('main').getByRole('listitem').getByRole('link')
    await links.first().waitFor()
    const [first = '', second = ''] = await links.locator('code').allTextContents()
    await links.first().click()
    await showsProblem(page, first)
    assert.equal(await page.getByRole('link', { name: /^Previous: / }).count(), 0)
    await page.getByRole('link', { name: `Next: ${second}` }).click()
    await showsProblem(page, second)
    await page.getByRole('link', { name: `Previous: ${first}` }).click()
    await waitForFocus(page.getByRole('heading', { level: 1 }))
    await showsProblem(page, first)
    assert.deepEqual(requests, [])
  })

  it('suggests existing codes for an unknown one', async () => {
    const { page } = person
    const requests = listRequests(page)
    await page.goto('/problems/order-not-fuond')
    await heading(page, 'No such problem').waitFor()
    await page.getByText('order-not-fuond').waitFor()
    await checkAccessibility(page)
    await page.getByRole('link', { name: 'order-not-found' }).click()
    await waitForFocus(heading(page, 'No such order'))
    assert.deepEqual(requests, [])
  })

  it('treats any code as text', async () => {
    const { page } = person
    for (const code of ['__proto__', `<img src=x onerror=alert(1)>${'x'.repeat(500)}`]) {
      await page.goto(`/problems/${encodeURIComponent(code)}`)
      await heading(page, 'No such problem').waitFor()
      await page.getByText(code, { exact: true }).waitFor()
    }
  })
})

describe('the list of problems', sideBySide, () => {
  it('lists every problem, filters by words, and links to each', async (t) => {
    const person = await browser.person(t, { service })
    const { page } = person
    const requests = listRequests(page)
    await page.goto('/problems')
    await page.getByText(`${codes.length} problems`).waitFor()
    const listed = await page.getByRole('main').getByRole('listitem').locator('code').allTextContents()
    assert.deepEqual(listed.sort(), codes.toSorted())
    await page.getByLabel('Filter by code, status or word').fill('walrus')
    await page.getByText('No problem matches all of these words.').waitFor()
    assert.equal(await page.getByRole('main').getByRole('listitem').count(), 0)
    await page.getByLabel('Filter by code, status or word').fill('409 pending')
    await page.getByText(`1 of ${codes.length} problems`).waitFor()
    await page.getByRole('link', { name: 'order-not-pending' }).click()
    await waitForAddress(person, '/problems/order-not-pending')
    await page.getByRole('link', { name: 'All problems' }).click()
    await waitForFocus(heading(page, 'Problems'))
    assert.deepEqual(requests, [])
  })
})
