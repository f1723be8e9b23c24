import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Download, Page } from 'playwright-core'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { eventually, focuses, followLink, isAt, openMenu, visit } from '../support/browser/orders.ts'
import { openBrowser, screenshot } from '../support/browser/person.ts'
import { brokenConnection } from '../support/browser/watch.ts'
import { insertOrders, orderIdAt, orderRow } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const start = Date.UTC(2026, 0, 1)
const all = '/orders?filter=total%3E%3D2&orderBy=customer'

/** Several batches. */
const rows = Array.from({ length: 2_345 }, (_, index) =>
  orderRow({
    id: orderIdAt(start + index, 0),
    customer: ['Zoë', '=1+1', 'Acme, "Ltd"'][index % 3] ?? '',
    total_e4: index === 0 ? 10_000 : 25_000,
  }),
)

const dialog = (page: Page) => page.getByRole('dialog', { name: 'View' })
const said = (page: Page, text: string | RegExp) => page.locator('.toasts').getByText(text)

async function textOf(download: Download): Promise<string> {
  return readFile(await download.path(), 'utf8')
}

const service = await startService({ inside: true, clockRuns: true, until: { after } })
await insertOrders(service, rows)

/** Answers wait for this before their second batch. */
let gate = Promise.resolve()
const query = service.db.query.bind(service.db)
service.db.query = (...request) => {
  const [name, input] = request
  const isHeld = name === 'findExportBatch' && JSON.stringify(input).includes('"key"')
  return isHeld ? gate.then(() => query(...request)) : query(...request)
}

describe('the export of the list', () => {
  const person = browser.stayingPerson({ service })
  before(() => visit(person, 'viewer', '/'))

  /** Holds back batches until the test ends or calls the returned function. */
  function holdPortions(t: TestContext): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    t.after(() => resolve())
    return resolve
  }

  async function atTheList(): Promise<Page> {
    const { page } = person
    // From another view, so that nothing of the test before is still open.
    for (const path of ['/account', all]) await followLink(page, path)
    await page.getByText('2,344 orders match').first().waitFor()
    return page
  }

  /** Fails the test if anything is saved from now on. */
  function savesNothing(t: TestContext): void {
    const fail = () => assert.fail('nothing is saved')
    person.page.on('download', fail)
    t.after(() => person.page.off('download', fail))
  }

  async function begin(page: Page): Promise<void> {
    await openMenu(page, 'View')
    await dialog(page).getByRole('button', { name: 'CSV' }).click()
  }

  it('saves the list as CSV, all its pages in order, for a spreadsheet', async () => {
    const page = await atTheList()
    await page.keyboard.press('e')
    await dialog(page).getByText('2,344 orders that match the search, by customer, A to Z').waitFor()
    await focuses(page, 'CSV for a spreadsheet')
    await checkAccessibility(page)
    await screenshot(page, 'export')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog(page).getByRole('button', { name: 'CSV' }).click(),
    ])
    assert.match(download.suggestedFilename(), /^orders-\d{4}-\d\d-\d\d\.csv$/)
    const viewer = await service.bearer('viewer')
    const list = `${all.replace('/orders', '/v1/orders')}&columns=number`
    const { text } = await viewer.get(list, { accept: 'text/csv' })
    assert.equal(await textOf(download), `\ufeff${text}`)
    await said(page, /^Saved orders-.*\.csv with 2,344 orders\.$/).waitFor()
    await dialog(page).waitFor({ state: 'detached' })

    await page.setViewportSize({ width: 390, height: 800 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    await screenshot(page, 'export-narrow')
    await openMenu(page, 'View')
    await screenshot(page, 'export-narrow-open')
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('shows its progress, and continues while other views are open', async (t) => {
    const goOn = holdPortions(t)
    const page = await atTheList()
    await begin(page)
    await dialog(page).getByText('100 of 2,344 orders').waitFor()
    await focuses(page, '100 of 2,344 orders')
    await screenshot(page, 'export-running')
    await page.keyboard.press('Escape')
    await focuses(page, 'Exporting 4%')
    await page.keyboard.press('h')
    await isAt(page, '/')
    const saved = page.waitForEvent('download')
    goOn()
    assert.equal((await textOf(await saved)).split('\n').length, 2_346)
  })

  it('leaves a form alone that was opened before it is complete', async (t) => {
    const goOn = holdPortions(t)
    const page = await atTheList()
    await begin(page)
    await dialog(page).getByText('100 of').waitFor()
    await page.getByRole('button', { name: 'Save this list as a view' }).click()
    await page.getByLabel('Name').fill('Half a name')
    const saved = page.waitForEvent('download')
    goOn()
    await saved
    await said(page, /^Saved orders-/).waitFor()
    assert.equal(await page.getByLabel('Name').inputValue(), 'Half a name')
    await page.keyboard.press('Escape')
  })

  it('can be stopped without a trace, in the browser and at the service', async (t) => {
    holdPortions(t)
    const page = await atTheList()
    await begin(page)
    await dialog(page).getByText('100 of').waitFor()
    savesNothing(t)
    await dialog(page).getByRole('button', { name: 'Stop' }).click()
    await said(page, 'Export stopped. Nothing was saved.').waitFor()
    // The button that stopped it is gone, and for a moment nothing has the focus.
    await dialog(page).getByRole('button', { name: 'CSV' }).press('Escape')
    await focuses(page, 'View')
  })

  it('says why the service refuses it, and saves no file when interrupted', async (t) => {
    const goOn = holdPortions(t)
    const page = await atTheList()
    const second = await page.context().newPage()
    await second.goto(all)
    await begin(page)
    await dialog(page).getByText('100 of').waitFor()
    person.expectFault(/409/)
    await begin(second)
    await dialog(second).getByText('You already have an export running').waitFor()
    await screenshot(second, 'export-refused')
    savesNothing(t)
    person.allowFault(brokenConnection)
    person.allowFault(/ERR_INCOMPLETE_CHUNKED_ENCODING/)
    await person.network('stopped')
    await dialog(page).getByText('The export was interrupted').waitFor()
    await said(page, 'The export was interrupted. Nothing was saved.').waitFor()
    await person.network('normal')
    goOn()
    // The service ends the export after the batch that was being read.
    const viewer = await service.bearer('viewer')
    await eventually(async () => {
      const { status } = await viewer.get('/v1/orders?filter=nobody', { accept: 'text/csv' })
      assert.equal(status, 200)
    })
    const [download] = await Promise.all([
      second.waitForEvent('download'),
      dialog(second).getByRole('button', { name: 'CSV' }).click(),
    ])
    assert.equal((await textOf(download)).split('\n').length, 2_346)
    await second.close()
  })

  it('ends with the session', async (t) => {
    holdPortions(t)
    const page = await atTheList()
    await begin(page)
    await dialog(page).getByText('100 of').waitFor()
    savesNothing(t)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Countersign' }).waitFor()
  })
})
