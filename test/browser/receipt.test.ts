import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import jsqr from 'jsqr'
import type { Page } from 'playwright-core'
import { receiptIn } from '../../proof/receipt.ts'
import { judgeReceipt } from '../../proof/verdict.ts'
import { newUser, signIn as signInElsewhere } from '../support/accounts.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { heading, waitForAddress } from '../support/browser/journeys.ts'
import { eventually, visit } from '../support/browser/orders.ts'
import { openBrowser, type Person, screenshot } from '../support/browser/person.ts'
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
const folder = await mkdtemp(join(tmpdir(), 'countersign-certificate-'))
after(() => rm(folder, { recursive: true }))

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
  page.locator('.facts').getByText(name, { exact: true }).locator('+ dd')
const withoutIsolation = (text: string | null) => text?.replaceAll(/[\u2068\u2069]/g, '')

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

describe('the approval certificate of an order', () => {
  const person = browser.stayingPerson({ service })

  it('is a page, a file and a printed document', async (t) => {
    const { id, second } = await approvedByTwo()
    const { number } = (await (await service.bearer('viewer')).get(`/v1/orders/${id}/approvals`)).body
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

    await t.test('is checked by the page with the key of the log of the service', async () => {
      await page.getByText('Valid, by the key of this service’s log.').waitFor()
      await fact(page, 'Rule').getByText('two approvals from people').waitFor()
    })

    await t.test('is a file that opens in a browser, and is checked in two more presses', async () => {
      const downloading = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Save as a file' }).click()
      const download = await downloading
      assert.equal(download.suggestedFilename(), `approval-certificate-${number}.html`)
      const text = await readFile(await download.path(), 'utf8')
      const { order } = await judgeReceipt(receiptIn(text) ?? '', [])
      assert.partialDeepStrictEqual(order, { id, number, customer: 'Müller & Söhne', total: '48250.25' })
      assert.equal(text.includes(organisation), false)
      const saved = join(folder, 'certificate.html')
      person.expectFault(/^request to another origin: file:\/\//)
      // The link from a disk comes without the session, which the page does not need.
      person.expectFault(/^issue: CookieIssue .*ExcludeSameSiteStrict/)
      await writeFile(saved, text.replaceAll(publicUrl, person.origin))
      const opened = await page.context().newPage()
      await opened.goto(pathToFileURL(saved).href)
      await opened.getByText('The words of this file prove nothing').waitFor()
      await opened.getByText(/Approval 2 of 2: .* approved it on/).waitFor()
      await checkAccessibility(opened)
      await screenshot(opened, 'certificate-file')
      await opened.getByRole('link', { name: 'check it' }).click()
      await opened.getByRole('button', { name: /^Check with the key of / }).click()
      await opened
        .getByRole('status')
        .getByText(/^Valid, if the key that /)
        .waitFor()
      await opened.getByText(`Order #${number} for`).waitFor()
      await opened.close()
    })

    await t.test(
      'has a QR code that leads to the page that checks it, in both themes and on paper',
      async () => {
        const link = `${publicUrl}/verify`
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
      },
    )

    await t.test('is a printed document, without buttons', async () => {
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
      assert.equal(await page.getByRole('button', { name: 'Save as a file' }).isVisible(), false)
      assert.equal(await page.getByRole('link', { name: 'Order', exact: true }).isVisible(), false)
      assert.equal(await page.getByRole('navigation', { name: 'Main' }).isVisible(), false)
      assert.equal(await page.getByText('Paper proves nothing.').isVisible(), true)
      assert.equal(await page.evaluate('getComputedStyle(document.documentElement).colorScheme'), 'light')
      const pages = (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type \/Page\b/g)
      assert.equal(pages?.length, 1)
      await page.setViewportSize({ width: 794, height: 1123 })
      await screenshot(page, 'print-receipt')
      await page.emulateMedia({ media: 'screen', colorScheme: 'light' })
      await page.setViewportSize({ width: 1280, height: 800 })
    })
  })

  it('is not valid if someone has changed the lines in the database', async () => {
    const { id } = await approvedByTwo()
    const { receipt } = (await (await service.bearer('viewer')).get(`/v1/orders/${id}/receipt`)).body
    const { sequence } = (await judgeReceipt(receipt, [])).order ?? assert.fail()
    await withRawDatabase(service.databaseUrl, (db) =>
      db.updateTable('events').set({ by_id: 99 }).where('sequence', '=', sequence).execute(),
    )
    const page = await visit(person, 'viewer', `/orders/${id}/receipt`)
    await page.getByText('This certificate is not valid').waitFor()
    await page.getByText(`line ${sequence} does not fit: its hash is not that of its content`).waitFor()
    await checkAccessibility(page)
  })

  it('leads to the page that says how to check it', async () => {
    const { id } = await approvedByTwo()
    const page = await visit(person, 'viewer', `/orders/${id}/receipt`)
    await page.getByText('Proof', { exact: true }).click()
    await page.getByRole('link', { name: 'How to check it yourself' }).click()
    await heading(page, 'Checking the log').waitFor()
    await waitForAddress(person, '/auditing#was-this-order-approved-and-by-whom')
    const isShown = `document.querySelector('#was-this-order-approved-and-by-whom').getBoundingClientRect().top < innerHeight`
    await eventually(async () => assert.ok(await page.evaluate(isShown)))
    // That page is not part of the app.
    person.visitor = undefined
  })

  it('appears by itself when its approval is sealed', async () => {
    const { id } = await approvedByTwo()
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

describe('without a certificate', () => {
  const person = browser.stayingPerson({ service })

  it('says so for an order that is not approved, and leads back to it', async () => {
    const id = await createdId(await service.bearer('operator'), { customer: 'Pending still' })
    person.expectFault(/ 409 .*\/receipt\)/)
    const page = await visit(person, 'admin', `/orders/${id}/receipt`)
    await heading(page, 'There is no approval certificate').waitFor()
    await page.getByRole('link', { name: 'Go to the order' }).click()
    await heading(page, /Pending still/).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Approval certificate' }).count(), 0)
  })

  it('says so for an order that does not exist', async () => {
    person.expectFault(/ 404 .*\/receipt\)/)
    const page = await visit(person, 'admin', `/orders/${randomUUID()}/receipt`)
    await heading(page, 'Order not found').waitFor()
  })
})
