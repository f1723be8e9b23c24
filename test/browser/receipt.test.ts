import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { after, describe, it } from 'node:test'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import jsqr from 'jsqr'
import type { Page } from 'playwright-core'
import { newUser, signIn as signInElsewhere } from '../support/accounts.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { heading, waitForAddress } from '../support/browser/journeys.ts'
import { eventually, visit } from '../support/browser/orders.ts'
import { openBrowser, type Person, screenshot, sideBySide } from '../support/browser/person.ts'
import { withRawDatabase } from '../support/database.ts'
import { createdId } from '../support/orders.ts'
import { policyRow, putPolicy } from '../support/policy.ts'
import { publicUrl, startService } from '../support/service.ts'

const browser = openBrowser()
const organisation = 'Winterfeld & Töchter'
const service = await startService({
  clockRuns: true,
  env: { ORGANISATION_NAME: organisation },
  until: { after },
})
await putPolicy(service, [policyRow({ approvals: 2 })])

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
  page.locator('.receipt-facts').getByText(name, { exact: true }).locator('+ dd')
const withoutIsolation = (text: string | null) => text?.replaceAll(/[\u2068\u2069]/g, '')
const jwsOf = async (page: Page) => (await page.locator('.receipt-jws').textContent()) ?? ''

/** The text of a QR code in the picture. An empty page decodes the picture. */
async function readCode(person: Person, png: Buffer): Promise<string | undefined> {
  const page = await person.page.context().newPage()
  const picture = await page.evaluate<{ width: number; height: number; dots: number[] }>(`(async () => {
    const answer = await fetch('data:image/png;base64,${png.toString('base64')}')
    const bitmap = await createImageBitmap(await answer.blob())
    const { width, height } = bitmap
    const canvas = new OffscreenCanvas(width, height).getContext('2d')
    canvas.drawImage(bitmap, 0, 0)
    return { width, height, dots: [...canvas.getImageData(0, 0, width, height).data] }
  })()`)
  await page.close()
  const dots = Uint8ClampedArray.from(picture.dots)
  // Not every scanner reads light dots on a dark ground.
  const options = { inversionAttempts: 'dontInvert' } as const
  return jsqr.default(dots, picture.width, picture.height, options)?.data
}

describe('the approval certificate of an order', sideBySide, () => {
  it('is a page, a file and a printed document', async (t) => {
    const { id, second } = await approvedByTwo()
    const { number } = (await (await service.bearer('viewer')).get(`/v1/orders/${id}/approvals`)).body
    const person = await browser.person(t, { service })
    const page = await visit(person, 'viewer', `/orders/${id}`)
    await page.getByRole('link', { name: 'Approval certificate' }).click()
    const certificate = page.getByRole('article', { name: 'Approval certificate' })
    await certificate.waitFor()

    await t.test('says what was approved, by whom and when, with its place in the log', async () => {
      await waitForAddress(person, `/orders/${id}/receipt`)
      const { items } = (await (await service.bearer('viewer')).get(`/v1/orders/${id}/history`)).body
      const { sequence, atUtc } = items.at(-1)
      const day = new Date(atUtc).toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' })
      const sentence = `admin and ${second} approved 48,250.25 for Müller & Söhne on ${day}.`
      assert.equal(withoutIsolation(await certificate.getByRole('heading').textContent()), sentence)
      await certificate.getByText(organisation).waitFor()
      await fact(page, 'Customer').getByText('Müller & Söhne').waitFor()
      await fact(page, 'Total').getByText('48,250.25').waitFor()
      await fact(page, 'Order').getByText(`#${number}`).waitFor()
      await fact(page, 'Created').getByText('by operator').waitFor()
      for (const name of ['admin', second]) await fact(page, '2 approvals').getByText(name).waitFor()
      const entry = `Log entry #${sequence.toLocaleString('en-US')}`
      await fact(page, 'Recorded in the log').getByText(entry).waitFor()
      const proof = fact(page, 'Id of the order').getByText(id)
      assert.equal(await proof.isVisible(), false)
      await page.getByText('Proof', { exact: true }).click()
      await proof.waitFor()
      await page.getByText('Proof', { exact: true }).click()
    })

    await t.test('is checked by the page with the keys of the service', async () => {
      await page.getByText('The signature is valid.').waitFor()
    })

    await t.test('leads to the page that needs no service, with the receipt in the link', async () => {
      const link = page.getByRole('link', { name: 'Check it yourself' })
      assert.equal(await link.getAttribute('href'), `/verify#receipt=${await jwsOf(page)}`)
      await link.click()
      await page.getByText(`order #${number} for`).waitFor()
      await page.goBack()
      await link.waitFor()
    })

    await t.test('is a file that any JWT library verifies, and says what the page says', async () => {
      const downloading = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Save as a file' }).click()
      const download = await downloading
      assert.equal(download.suggestedFilename(), `approval-certificate-${number}.jwt`)
      const jws = await readFile(await download.path(), 'utf8')
      assert.equal(jws, await jwsOf(page))
      const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', service.baseUrl))
      const { payload } = await jwtVerify(jws, keys, { issuer: publicUrl, typ: 'countersign-receipt+jwt' })
      assert.partialDeepStrictEqual(payload, {
        order: { id, number, customer: 'Müller & Söhne', total: '48250.25', createdBy: 'operator' },
        approvals: [{ by: 'admin' }, {}],
      })
      const changed = `${jws.slice(0, -4)}${jws.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`
      await assert.rejects(jwtVerify(changed, keys, { typ: 'countersign-receipt+jwt' }))
    })

    await t.test('has a QR code that leads to this page, in both themes and on paper', async () => {
      const link = `${publicUrl}/orders/${id}/receipt`
      const looks = [
        { media: 'screen', colorScheme: 'light' },
        { media: 'screen', colorScheme: 'dark' },
        { media: 'print', colorScheme: 'dark' },
      ] as const
      const drawn = page.getByRole('img', { name: 'QR code' })
      for (const look of looks) {
        await page.emulateMedia(look)
        assert.equal(await readCode(person, await drawn.screenshot()), link, JSON.stringify(look))
      }
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
      await page.setViewportSize({ width: 794, height: 1123 })
      await screenshot(page, 'print-receipt')
    })
  })

  it('leads to the page that says how to check it', async (t) => {
    const { id } = await approvedByTwo()
    const person = await browser.person(t, { service })
    const page = await visit(person, 'viewer', `/orders/${id}/receipt`)
    await page.getByText('Proof', { exact: true }).click()
    await page.getByRole('link', { name: 'How to check it yourself' }).click()
    await heading(page, 'Checking the log').waitFor()
    await waitForAddress(person, '/auditing#was-this-order-approved-and-by-whom')
    const isShown = `document.querySelector('#was-this-order-approved-and-by-whom').getBoundingClientRect().top < innerHeight`
    await eventually(async () => assert.ok(await page.evaluate(isShown)))
  })

  it('is not valid if someone has changed the text that the service keeps', async (t) => {
    const { id } = await approvedByTwo()
    const { receipt } = (await (await service.bearer('viewer')).get(`/v1/orders/${id}/receipt`)).body
    const [header, claims = '', signature] = receipt.split('.')
    const said = Buffer.from(claims, 'base64url').toString().replace('48250.25', '98250.25')
    const altered = [header, Buffer.from(said).toString('base64url'), signature].join('.')
    await withRawDatabase(service.databaseUrl, (db) =>
      db.updateTable('order_receipts').set({ receipt: altered }).where('order_id', '=', id).execute(),
    )
    const person = await browser.person(t, { service })
    const page = await visit(person, 'viewer', `/orders/${id}/receipt`)
    await page.getByText('This certificate is not valid').waitFor()
    await page.getByText('the receipt was altered').waitFor()
    await checkAccessibility(page)
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
    await page.getByText('Being recorded').waitFor()
    await person.network('normal')
    await page.getByRole('article', { name: 'Approval certificate' }).waitFor()
  })
})

describe('without a certificate', sideBySide, () => {
  it('says so for an order that is not approved, and leads back to it', async (t) => {
    const id = await createdId(await service.bearer('operator'), { customer: 'Pending still' })
    const person = await browser.person(t, { service })
    person.expectFault(/ 409 .*\/receipt\)/)
    const page = await visit(person, 'admin', `/orders/${id}/receipt`)
    await heading(page, 'There is no approval certificate').waitFor()
    await page.getByRole('link', { name: 'Go to the order' }).click()
    await heading(page, /Pending still/).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Approval certificate' }).count(), 0)
  })

  it('says so for an order that does not exist', async (t) => {
    const person = await browser.person(t, { service })
    person.expectFault(/ 404 .*\/receipt\)/)
    const page = await visit(person, 'admin', `/orders/${randomUUID()}/receipt`)
    await heading(page, 'Order not found').waitFor()
  })
})
