import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { verifyLog } from '../../proof/log.ts'
import { readCheckpoint, readNote } from '../../proof/note.ts'
import { newUser } from '../support/accounts.ts'
import { waitForFocus } from '../support/browser/journeys.ts'
import { lookAt } from '../support/browser/looks.ts'
import { eventually, isAt, visit } from '../support/browser/orders.ts'
import { openBrowser } from '../support/browser/person.ts'
import { inPortions, seal } from '../support/log.ts'
import { createdId, stamp } from '../support/orders.ts'
import { startService } from '../support/service.ts'
import { contradict } from '../support/witnessed.ts'

const browser = openBrowser()
const longText = `Too much ${'for this year and the next '.repeat(20)}${'W'.repeat(120)}`

const service = await startService({ clockRuns: true, until: { after } })

describe('the page of the log', () => {
  const person = browser.stayingPerson({ service })
  let rejected: string
  let newcomer: string
  before(async () => {
    const operator = await service.bearer('operator')
    const admin = await service.bearer('admin')
    for (let count = 0; count < 30; count += 1) {
      await operator.post('/v1/orders', { customer: `Customer ${count}`, total: 10 + count })
    }
    const { body } = await operator.post('/v1/orders', { customer: 'Zoë & Sons', total: '1250.5' })
    rejected = body.id
    assert.equal((await admin.patch(`/v1/orders/${rejected}/reject`, { reason: longText })).status, 204)
    newcomer = (await newUser(service, { roles: ['Viewer'] })).userName
    await seal(service.db)
  })

  const events = (page: Page) => page.getByRole('region', { name: 'Events' }).locator('li:has(.log-said)')
  const details = (page: Page) => page.getByRole('button', { name: /^Details of log entry #\d+$/ })
  const openProof = (page: Page) => page.getByRole('button', { name: 'Check it' }).press('Enter')
  const said = (page: Page) => page.locator('.log-said').allInnerTexts()
  const shows = (page: Page, expected: string[]) =>
    eventually(async () => assert.deepEqual(await said(page), expected))

  it('is shown only to people who may read it', async () => {
    const page = await visit(person, 'viewer', '/log')
    await page.getByText('You cannot read the log').waitFor()
    for (const name of ['Settings', 'Log'])
      assert.equal(await page.getByRole('link', { name, exact: true }).count(), 0)
  })

  it('lists the newest events first, in words, and leads to the order', async () => {
    const page = await visit(person, 'admin', '/')
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('link', { name: 'Log', exact: true }).click()
    await isAt(page, '/log')
    await events(page).first().waitFor()
    const [added = '', rejection, created] = await said(page)
    assert.ok(added.startsWith('machine:') && added.endsWith(` added the user ${newcomer} (Viewer)`), added)
    assert.equal(rejection, 'admin rejected the order for Zoë & Sons, 1,250.50')
    assert.equal(created, 'operator created the order for Zoë & Sons, 1,250.50')
    assert.equal(await events(page).count(), 25)
    const heights = `[...document.querySelectorAll('.log-event')].map(({ offsetHeight }) => offsetHeight)`
    assert.deepEqual(await page.evaluate(`[...new Set(${heights})]`), [44])
    await events(page).nth(1).getByText(longText).waitFor()
    await page.getByRole('button', { name: 'Next page' }).click()
    await isAt(page, '/log?pageNumber=2')
    await page.getByText('operator created the order for Customer 0, 10.00').waitFor()
    await page.goBack()
    await page.getByRole('link', { name: newcomer }).click()
    await page.getByRole('heading', { level: 1, name: newcomer }).waitFor()
    await page.goBack()
    await page
      .getByRole('link', { name: /Zoë & Sons/ })
      .first()
      .click()
    await isAt(page, `/orders/${rejected}`)
  })

  it('is filtered by keyboard alone, with the filter in the address', async () => {
    const page = await visit(person, 'admin', '/log')
    await events(page).first().waitFor()
    await page.getByLabel('What').focus()
    await page.keyboard.type('Rejected')
    await isAt(page, '/log?kind=rejected')
    await shows(page, ['admin rejected the order for Zoë & Sons, 1,250.50'])
    await page.keyboard.press('Tab')
    await waitForFocus(page.getByLabel('Who'))
    await page.keyboard.type('operator')
    await page.keyboard.press('Enter')
    await isAt(page, '/log?kind=rejected&by=operator')
    await page.getByText('No events match').waitFor()
    await page.getByRole('button', { name: 'Clear', exact: true }).press('Enter')
    await isAt(page, '/log')
    await page.getByLabel('Done until').fill('2020-01-01')
    await isAt(page, '/log?to=2020-01-01')
    await page.getByRole('button', { name: 'Show the whole log' }).press('Enter')
    await events(page).nth(20).waitFor()
  })

  it('shows the proof of an event, and all events of its subject', async (t) => {
    const page = await visit(person, 'admin', '/log?kind=rejected')
    const admin = await service.bearer('admin')
    const { body } = await admin.get('/v1/log?kind=rejected')
    await details(page).press('Enter')
    for (const name of ['hash', 'id', 'atUtc']) {
      await events(page).getByText(body.items[0][name], { exact: true }).waitFor()
    }
    for (const name of ['clear', 'hashes']) {
      await events(page).getByText(JSON.stringify(body.items[0][name]), { exact: true }).waitFor()
    }
    await page.getByRole('link', { name: 'All events of this order' }).press('Enter')
    await shows(page, [
      'admin rejected the order for Zoë & Sons, 1,250.50',
      'operator created the order for Zoë & Sons, 1,250.50',
    ])
    const { number } = (await admin.get(`/v1/orders/${rejected}/approvals`)).body
    await page.getByText(`Only order #${number}`, { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Show every subject' }).press('Enter')
    await isAt(page, '/log')

    await t.test('saves a checkpoint and the log up to it, which the page /verify finds valid', async () => {
      await openProof(page)
      const save = async (name: string) => {
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name }).click(),
        ])
        return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) }
      }
      const checkpoint = await save('Save checkpoint')
      const { size, root } = readCheckpoint(readNote(checkpoint.bytes.toString()).text)
      assert.equal(checkpoint.name, `checkpoint-${size}.txt`)
      await page.getByText(`${checkpoint.name} has been saved. It covers ${size} events.`).waitFor()
      await createdId(admin)
      await seal(service.db)
      const log = await save('Save log')
      assert.equal(log.name, 'log.jsonl')
      const { head, fault } = await verifyLog(inPortions(log.bytes))
      assert.deepEqual([fault, head], [null, { size, root: Buffer.from(root).toString('hex') }])
      await page.getByText(`Saved log.jsonl with ${size} events.`).waitFor()
      const link = page.getByRole('link', { name: 'the page that checks' })
      assert.equal(await link.getAttribute('href'), '/verify')
      const opened = await page.context().newPage()
      await opened.goto(`${person.origin}/verify`)
      const files = [log, checkpoint].map(({ name, bytes }) => ({ name, mimeType: '', buffer: bytes }))
      await opened.getByLabel('Choose files').setInputFiles(files)
      await opened.getByRole('button', { name: /^Check with the key of / }).click()
      await opened
        .getByRole('status')
        .getByText(/^Valid, if /)
        .waitFor()
      await opened.close()
      assert.equal(await page.getByText('countersign log verify').isVisible(), false)
      await page.keyboard.press('Escape')
      await waitForFocus(page.getByRole('button', { name: 'Check it' }))
    })
  })

  it('says why an export failed, and offers it again', async () => {
    const page = await visit(person, 'admin', '/log')
    person.allowFault(/409/)
    await page.route('**/v1/log', (route) =>
      route.fulfill({
        status: 409,
        contentType: 'application/problem+json',
        body: JSON.stringify({
          status: 409,
          code: 'export-running',
          title: 'An export is running',
          detail: 'Wait for it.',
        }),
      }),
    )
    await openProof(page)
    await page.getByRole('button', { name: 'Save log' }).click()
    await page.getByText('Nothing was saved.', { exact: true }).waitFor()
    await page.getByText('An export is running. Nothing was saved.').waitFor()
    await page.getByRole('button', { name: 'Save log' }).waitFor()
    await page.keyboard.press('Escape')
    await page.unroute('**/v1/log')
  })

  it('exports while other views are shown, and announces the end', async () => {
    const page = await visit(person, 'admin', '/log')
    const released = Promise.withResolvers<void>()
    await page.route('**/v1/log', async (route) => {
      await released.promise
      await route.continue()
    })
    await openProof(page)
    await page.getByRole('button', { name: 'Save log' }).click()
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('h')
    await isAt(page, '/')
    const saved = page.waitForEvent('download')
    released.resolve()
    assert.equal((await saved).suggestedFilename(), 'log.jsonl')
    await page
      .getByRole('status')
      .getByText(/^Saved log\.jsonl with \d+ events\.$/)
      .waitFor()
    await page.unroute('**/v1/log')
  })

  it('keeps the previous page and the focus while the next one cannot be read', async () => {
    const page = await visit(person, 'admin', '/log')
    await events(page).first().waitFor()
    person.expectFault(/ERR_FAILED/)
    await page.route('**/v1/log?*pageNumber=2*', (route) => route.abort())
    await page.getByRole('button', { name: 'Next page' }).press('Enter')
    await page.getByText('The service is not responding').waitFor()
    await page.getByText('These are earlier results.').waitFor()
    await waitForFocus(page.getByRole('button', { name: 'Next page' }))
    await page.getByRole('button', { name: 'Previous page' }).press('Enter')
    await isAt(page, '/log')
    await eventually(async () => assert.equal(await page.getByText('The service is not').count(), 0))
    assert.equal(await events(page).count(), 25)
    await page.unroute('**/v1/log?*pageNumber=2*')
  })

  it('can be read and used, in both themes and widths', async (t) => {
    await lookAt(t, person, {
      async log() {
        const page = await visit(person, 'admin', '/log')
        await details(page).nth(3).click()
      },
      async 'log-of-one'() {
        const page = await visit(person, 'admin', `/log?subject=order:${rejected}`)
        await details(page).first().click()
        await page.getByText('All events by').first().waitFor()
      },
      async 'log-check'({ page }) {
        await openProof(page)
        await page.getByRole('dialog', { name: 'Check the log yourself' }).waitFor()
      },
      async 'log-nothing'() {
        const page = await visit(person, 'admin', '/log?by=nobody')
        await page.getByText('No events match').waitFor()
      },
    })
  })

  it('says that witnesses contradict it, until the next era', async () => {
    person.expectFault(/503/)
    await contradict(service.db, 3)
    await visit(person, 'admin', '/')
    let page = await visit(person, 'admin', '/log')
    const note = page.getByRole('status').filter({ hasText: 'Witnesses contradict this log' })
    await note
      .getByText(/but witness\.example has a checkpoint of \d+ events that does not lead to it/)
      .waitFor()
    await openProof(page)
    await page.getByRole('button', { name: 'Save checkpoint' }).click()
    await page.getByText('Nothing can be signed until your administrator has restored the log.').waitFor()
    await service.db.write('beginEra', { atLeast: 1, stamp: stamp() })
    page = await visit(person, 'admin', '/log')
    await page
      .getByText(/restored the database/)
      .first()
      .waitFor()
    assert.equal(await note.count(), 0)
  })
})
