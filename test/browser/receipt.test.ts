import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, describe, it } from 'node:test'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import type { Page } from 'playwright-core'
import { newUser, signIn as signInElsewhere } from '../support/accounts.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { heading, waitForAddress } from '../support/browser/journeys.ts'
import { visit } from '../support/browser/orders.ts'
import { openBrowser, screenshot, sideBySide } from '../support/browser/person.ts'
import { createdId } from '../support/orders.ts'
import { policyRow, putPolicy } from '../support/policy.ts'
import { publicUrl, startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
await putPolicy(await service.bearer('admin'), [policyRow({ approvals: 2 })])

/** An order of the operator that two people have approved: admin, and `second`. */
async function approvedByTwo(): Promise<{ id: string; second: string }> {
  const id = await createdId(await service.bearer('operator'), {
    customer: 'Müller & Söhne',
    total: 48_250.25,
  })
  const user = await newUser(service, { roles: ['Admin'] })
  for (const caller of [await service.session('admin'), await signInElsewhere(service, user)]) {
    assert.equal((await caller.patch(`/v1/orders/${id}/approve`)).status, 204)
  }
  return { id, second: user.userName }
}

const fact = (page: Page, name: string) =>
  page.locator('.receipt-facts > div').filter({ has: page.getByText(name, { exact: true }) })
const jwsOf = async (page: Page) => (await page.locator('.receipt-jws').textContent()) ?? ''

describe('the receipt of an approved order', sideBySide, () => {
  it('is a page, a file and a printed document', async (t) => {
    const { id, second } = await approvedByTwo()
    const person = await browser.person(t, { service })
    const page = await visit(person, 'viewer', `/orders/${id}`)
    await page.getByRole('link', { name: 'Receipt' }).click()
    await page.getByRole('article', { name: 'Receipt' }).waitFor()

    await t.test('says what was approved, by whom and when, with its place in the log', async () => {
      await waitForAddress(person, `/orders/${id}/receipt`)
      await page.getByRole('heading', { name: 'This order is approved' }).waitFor()
      await fact(page, 'Customer').getByText('Müller & Söhne').waitFor()
      await fact(page, 'Total').getByText('48,250.25').waitFor()
      await fact(page, 'Order number').getByText(id).waitFor()
      await fact(page, 'Created').getByText('by operator').waitFor()
      for (const name of ['admin', second]) await fact(page, '2 approvals').getByText(name).waitFor()
      const { items } = (await (await service.bearer('viewer')).get(`/v1/orders/${id}/history`)).body
      const { sequence, hash } = items.at(-1)
      await fact(page, 'Log entry')
        .getByText(`#${sequence.toLocaleString('en-US')}`)
        .waitFor()
      await fact(page, 'Log entry').getByText(hash).waitFor()
      await page.getByRole('heading', { name: 'How to check it' }).waitFor()
    })

    await t.test('is a file that any JWT library verifies, and says what the page says', async () => {
      const downloading = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Save as a file' }).click()
      const download = await downloading
      assert.equal(download.suggestedFilename(), `receipt-${id.slice(0, 13)}.jwt`)
      const jws = await readFile(await download.path(), 'utf8')
      assert.equal(jws, await jwsOf(page))
      const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', service.baseUrl))
      const { payload } = await jwtVerify(jws, keys, { issuer: publicUrl, typ: 'countersign-receipt+jwt' })
      assert.partialDeepStrictEqual(payload, {
        order: { id, customer: 'Müller & Söhne', total: '48250.25', createdBy: 'operator' },
        approvals: [{ by: 'admin' }, {}],
      })
      const changed = `${jws.slice(0, -4)}${jws.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`
      await assert.rejects(jwtVerify(changed, keys, { typ: 'countersign-receipt+jwt' }))
    })

    await t.test('is a printed document, without buttons', async () => {
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
      for (const name of ['Save as a file', 'Order']) {
        assert.equal(await page.getByRole('link', { name, exact: true }).isVisible(), false, name)
      }
      assert.equal(await page.getByRole('navigation', { name: 'Main' }).isVisible(), false)
      assert.equal(await page.locator('.receipt-jws').isVisible(), true)
      assert.equal(await page.evaluate('getComputedStyle(document.documentElement).colorScheme'), 'light')
      const pages = (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type \/Page\b/g)
      assert.equal(pages?.length, 1)
      await screenshot(page, 'print-receipt')
    })
  })

  it('appears by itself when its approval is sealed', async (t) => {
    const { id } = await approvedByTwo()
    const person = await browser.person(t, { service })
    person.expectFault(/ 503 .*\/receipt\)/)
    await person.network({
      answers: 'receipt-not-ready',
      retryAfterSeconds: 1,
      paths: `/v1/orders/${id}/receipt`,
    })
    const page = await visit(person, 'admin', `/orders/${id}/receipt`)
    await page.getByText('The approval is being recorded').waitFor()
    await checkAccessibility(page)
    await person.network('normal')
    await page.getByRole('article', { name: 'Receipt' }).waitFor()
  })
})

describe('without a receipt', sideBySide, () => {
  it('says so for an order that is not approved, and leads back to it', async (t) => {
    const id = await createdId(await service.bearer('operator'), { customer: 'Pending still' })
    const person = await browser.person(t, { service })
    person.expectFault(/ 409 .*\/receipt\)/)
    const page = await visit(person, 'admin', `/orders/${id}/receipt`)
    await heading(page, 'There is no receipt').waitFor()
    await page.getByRole('link', { name: 'Go to the order' }).click()
    await heading(page, /Pending still/).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Receipt' }).count(), 0)
  })

  it('says so for an order that does not exist', async (t) => {
    const person = await browser.person(t, { service })
    person.expectFault(/ 404 .*\/receipt\)/)
    const page = await visit(person, 'admin', '/orders/no-id-at-all/receipt')
    await heading(page, 'Order not found').waitFor()
  })
})
