import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { heading, listRequests } from '../support/browser/journeys.ts'
import { openBrowser } from '../support/browser/person.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })

/** test/http/web-app.test.ts tests what each page says. */
describe('the page of a problem', () => {
  const person = browser.samePerson({ service })

  it('is the page that the type of a real problem leads to, with links to the list and to the app', async () => {
    const viewer = await service.bearer('viewer')
    const { body } = await viewer.post('/v1/orders', { customer: 'Acme', total: 1 })
    assert.equal(body.code, 'permission-denied')
    const { page } = person
    const requests = listRequests(page)
    await page.goto(new URL(body.type).pathname)
    await heading(page, body.title).waitFor()
    assert.equal(await page.title(), `${body.title} · Countersign`)
    await page.getByRole('link', { name: 'All problems' }).click()
    await heading(page, 'Problems').waitFor()
    await page.getByRole('link', { name: 'order-not-found' }).click()
    await heading(page, 'No such order').waitFor()
    assert.deepEqual(requests, [])
    await page.getByRole('link', { name: 'Countersign' }).click()
    await heading(page, 'Sign in to Countersign').waitFor()
  })

  it('is the page for an unknown address if there is no such code, whatever the address holds', async () => {
    const { page } = person
    for (const code of ['order-not-fuond', '__proto__', `<img src=x onerror=alert(1)>${'x'.repeat(500)}`]) {
      await page.goto(`/problems/${encodeURIComponent(code)}`)
      await heading(page, 'Page not found').waitFor()
    }
  })
})
