import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, describe, it } from 'node:test'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { heading, listRequests, waitForAddress, waitForFocus } from '../support/browser/journeys.ts'
import { openBrowser, sideBySide } from '../support/browser/person.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true })
after(() => service.close())
const documented = await readDocumented()

interface Documented {
  code: string
  status: string
  title: string
  remedy: string
}

/** The sections of docs/problems.md, as text without marks. */
async function readDocumented(): Promise<Documented[]> {
  const text = await readFile(new URL('../../docs/problems.md', import.meta.url), 'utf8')
  const sections = text.matchAll(/^## (\S+)\n\n(\d{3}): (.+)\.\n\n([^#]+)/gm)
  return [...sections].map(([, code = '', status = '', title = '', remedy = '']) => ({
    code,
    status,
    title,
    remedy: remedy.replaceAll('`', '').replace(/\s+/g, ' ').trim(),
  }))
}

describe('the page of a problem', sideBySide, () => {
  it('is where the type of a real one leads, for anybody', async (t) => {
    const viewer = await service.bearer('viewer')
    const { body } = await viewer.post('/v1/orders', { customer: 'Acme', total: 1 })
    assert.equal(body.code, 'permission-denied')
    const { page } = await browser.person(t, { service })
    await page.goto(new URL(body.type).pathname)
    await heading(page, body.title).waitFor()
    assert.equal(await page.title(), `${body.title} · Countersign`)
    await page.getByText(`/problems/${body.code}`).waitFor()
  })

  it('is there for every one that is documented, says the same, and asks the API for nothing', async (t) => {
    assert.ok(documented.length >= 30, `${documented.length} problems are documented`)
    const { page } = await browser.person(t, { service })
    const requests = listRequests(page)
    const unseen = new Map(documented.map((problem) => [problem.code, problem]))
    await page.goto('/problems')
    // From one to the next by its link: to load the app for each took 8 s of processor time.
    let link = page.getByRole('main').getByRole('listitem').getByRole('link').first()
    let before = ''
    for (; unseen.size > 0; link = page.getByRole('link', { name: /^Next: / })) {
      const code = (await link.getAttribute('href'))?.split('/').at(-1) ?? ''
      const { status, title, remedy } = unseen.get(code) ?? assert.fail(`${code} is not documented`)
      unseen.delete(code)
      await link.click()
      const article = page.getByRole('article')
      await article.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
      await article.getByText(code, { exact: true }).waitFor()
      const words = await article.evaluate<string, HTMLElementLike>(({ textContent }) => textContent)
      const [head = '', example = ''] = words.split('Example response')
      assert.ok(head.includes(`${title}${code}${status} `), `${code}: ${head}`)
      assert.ok(head.replace(/\s+/g, ' ').includes(remedy), `${code}: ${head}`)
      const answer = JSON.parse(example.slice(example.indexOf('{'), example.lastIndexOf('}') + 1))
      assert.deepEqual([answer.code, answer.title, String(answer.status)], [code, title, status])
      if (unseen.size > 0) before = code
    }
    await page.getByRole('link', { name: `Previous: ${before}` }).click()
    await waitForFocus(page.getByRole('heading', { level: 1 }))
    await page.getByRole('article').getByText(before, { exact: true }).waitFor()
    assert.deepEqual(requests, [])
  })

  it('suggests what may have been meant by a code that does not exist', async (t) => {
    const { page } = await browser.person(t, { service })
    const requests = listRequests(page)
    await page.goto('/problems/order-not-fuond')
    await heading(page, 'No such problem').waitFor()
    await page.getByText('order-not-fuond').waitFor()
    await checkAccessibility(page)
    await page.getByRole('link', { name: 'order-not-found' }).click()
    await waitForFocus(heading(page, 'No such order'))
    assert.deepEqual(requests, [])
  })

  it('treats a code as text, whatever it is', async (t) => {
    const { page } = await browser.person(t, { service })
    for (const code of ['__proto__', `<img src=x onerror=alert(1)>${'x'.repeat(500)}`]) {
      await page.goto(`/problems/${encodeURIComponent(code)}`)
      await heading(page, 'No such problem').waitFor()
      await page.getByText(code, { exact: true }).waitFor()
    }
  })
})

/** What this test needs of an element; there are no types of the DOM here. */
interface HTMLElementLike {
  textContent: string
}

describe('the list of problems', sideBySide, () => {
  it('names every one that is documented, finds some by their words, and leads to each', async (t) => {
    const person = await browser.person(t, { service })
    const { page } = person
    const requests = listRequests(page)
    await page.goto('/problems')
    await page.getByText(`${documented.length} problems`).waitFor()
    const listed = await page.getByRole('main').getByRole('listitem').locator('code').allTextContents()
    assert.deepEqual(listed.sort(), documented.map(({ code }) => code).sort())
    await page.getByLabel('Filter by code, status or word').fill('walrus')
    await page.getByText('No problem matches all of these words.').waitFor()
    assert.equal(await page.getByRole('main').getByRole('listitem').count(), 0)
    await page.getByLabel('Filter by code, status or word').fill('409 pending')
    await page.getByText(`1 of ${documented.length} problems`).waitFor()
    await page.getByRole('link', { name: 'order-not-pending' }).click()
    await waitForAddress(person, '/problems/order-not-pending')
    await page.getByRole('link', { name: 'All problems' }).click()
    await waitForFocus(heading(page, 'Problems'))
    assert.deepEqual(requests, [])
  })
})
