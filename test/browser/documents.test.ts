import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { waitForAddress } from '../support/browser/journeys.ts'
import { approvalsOf, followLink, visit } from '../support/browser/orders.ts'
import { openBrowser, screenshot } from '../support/browser/person.ts'
import { approve, button, closed, dialog, inDialog, titled } from '../support/browser/question.ts'
import { addDocument, files } from '../support/documents.ts'
import { createdId } from '../support/orders.ts'
import { passwordOf, startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })

/** Every way in which a document could try to run: each would set the title, or fetch from elsewhere. */
const script = 'document.title = "ran"; fetch("/v1/ran")'
const html = `<!doctype html><title>still</title><script>${script}</script><img src=x onerror='${script}'>`
const hostile: Record<string, string | Buffer> = {
  'page.html': html,
  'picture.svg': `<svg xmlns="http://www.w3.org/2000/svg" onload='${script}'><script>${script}</script></svg>`,
  'page.xhtml': `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>${script}</script></html>`,
  'style.xsl': '<?xml-stylesheet type="text/xsl" href="data:text/xsl,"?><a/>',
  'script.js': script,
  'worker.mjs': `onmessage = () => { ${script} }`,
  'pdf.html': Buffer.concat([files.pdf, Buffer.from(html)]),
  'script.pdf': `%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(${script})>>>>endobj\n${html}`,
  'png.html': Buffer.concat([files.png, Buffer.from(html)]),
  'jpeg.html': Buffer.concat([files.jpeg, Buffer.from(html)]),
  'webp.html': Buffer.concat([files.webp, Buffer.from(html)]),
  'utf16.html': Buffer.from(`\ufeff${html}`, 'utf16le'),
  'utf7.html': '+ADw-script+AD4-document.title=1+ADw-/script+AD4-',
}

/** Everything else is a download: this browser has no viewer for a PDF. */
const isShown = (name: string) => !['utf16.html', 'pdf.html', 'script.pdf'].includes(name)

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const file = (name: string, text: string, mimeType = 'text/plain') => ({
  name,
  mimeType,
  buffer: Buffer.from(text),
})

describe('the documents of an order', () => {
  const creator = browser.stayingPerson({ service })

  it('are sent with it, shown next to it, and named where it is decided', async (t) => {
    const approver = await browser.person(t, { service })
    const page = await visit(creator, 'operator', '/orders/new')
    await page.getByLabel('Customer', { exact: true }).fill('Acme & Sons')
    await page.getByLabel('Total').fill('1250.50')
    await page.getByLabel('Note (optional)').fill('As agreed by phone on Monday.')
    const picture = { name: 'Photo.png', mimeType: 'image/png', buffer: await page.screenshot() }
    const chooser = page.locator('input[type="file"]')
    await chooser.setInputFiles([file('Empty.txt', ''), file('Offer.txt', 'Ten chairs'), picture])
    await page.getByRole('listitem').filter({ hasText: 'Photo.png' }).waitFor()
    assert.equal(await page.getByRole('listitem').filter({ hasText: 'Empty.txt' }).count(), 0)
    await screenshot(page, 'documents-form')
    await button(page, 'Create order').click()
    await page.waitForURL(/\/orders\/[\da-f-]{36}$/)
    const facts = region(page, 'Order')
    await button(page, 'Remove Photo.png').waitFor()
    await page.getByText('As agreed by phone on Monday.').waitFor()
    const id = page.url().split('/').at(-1) ?? ''

    const tab = await visit(approver, 'admin', '/orders')
    await tab.getByRole('row', { name: /Acme & Sons.*2 documents/ }).waitFor()
    await screenshot(tab, 'documents-list')
    await followLink(tab, `/orders/${id}`)
    await facts.waitFor()
    await approve(tab).waitFor()
    await tab.keyboard.press('d')
    const frame = tab.frameLocator('iframe')
    await frame.getByText('Ten chairs').waitFor()
    assert.equal(await tab.locator('iframe').getAttribute('sandbox'), '')
    await screenshot(tab, 'documents-text')
    await button(tab, 'Photo.png').click()
    await tab.getByRole('img', { name: 'Photo.png' }).waitFor()
    await screenshot(tab, 'documents-picture')
    await tab.keyboard.press('d')
    await tab.getByRole('region', { name: 'Document' }).waitFor({ state: 'detached' })

    const sent = approvalsOf(tab)
    await tab.keyboard.press('a')
    await titled(tab, 'Approve this order?')
    await dialog(tab).getByText('Offer.txt').waitFor()
    await screenshot(tab, 'documents-question')
    // The tab may just be asking for news of the order.
    approver.allowFault(/ERR_INTERNET_DISCONNECTED/)
    await tab.context().setOffline(true)
    await button(page, 'Remove Photo.png').click()
    await page.getByText('Photo.png').first().waitFor()
    await button(page, 'Remove Photo.png').waitFor({ state: 'detached' })
    await tab.context().setOffline(false)
    approver.expectFault(/ 412 .*\/approve\)/)
    await inDialog(tab, 'Approve').click()
    await titled(tab, 'This order has changed')
    await dialog(tab).getByRole('table', { name: 'What has changed' }).getByText('Photo.png').waitFor()
    await screenshot(tab, 'documents-changed')
    assert.deepEqual(
      sent.map(({ headers }) => headers['if-match']),
      ['"3"'],
    )
    await inDialog(tab, 'Close').click()
    await closed(tab)

    await button(tab, 'Reject …').click()
    await tab.getByLabel('Reason').fill('Too dear.')
    await inDialog(tab, 'Reject').click()
    await tab.getByText('Too dear.').waitFor()
    await page.reload()
    const repeated = page.waitForResponse(/total%3D1250\.5/)
    await button(page, 'Create again …').click()
    await waitForAddress(creator, '/orders/new')
    await page.getByText(/^Replaces order #/).waitFor()
    assert.deepEqual((await (await repeated).json()).items, [])
    await page.getByLabel('Total').fill('990')
    assert.equal(await page.getByLabel('Note (optional)').inputValue(), 'As agreed by phone on Monday.')
    await button(page, 'Remove Offer.txt').click()
    await chooser.setInputFiles([file('Offer 2.txt', 'Eight chairs')])
    await screenshot(page, 'documents-again')
    await button(page, 'Create order').click()
    const changes = page.getByRole('table', { name: 'What has changed' }).getByRole('row')
    await changes.filter({ hasText: 'Total' }).filter({ hasText: '1,250.50' }).waitFor()
    await changes.filter({ hasText: 'Offer.txt' }).filter({ hasText: 'Offer 2.txt' }).waitFor()
    await screenshot(page, 'documents-replacing')
    await page.setViewportSize({ width: 390, height: 844 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.keyboard.press('d')
    await page.frameLocator('iframe').getByText('Eight chairs').waitFor()
    await screenshot(page, 'documents-narrow-dark')
  })
})

describe('a hostile document in the browser', () => {
  const person = browser.stayingPerson({ service })

  it('runs nothing, as a page and in a frame of the app, whatever it is called', async (t) => {
    // Nobody watches this context: what a document tries is a fault of the console.
    const context = await person.page
      .context()
      .browser()
      ?.newContext({ baseURL: service.baseUrl.replace('127.0.0.1', 'localhost') })
    assert.ok(context)
    t.after(() => context.close())
    const [page, tab] = [await context.newPage(), await context.newPage()]
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.goto('/problems/order-not-found')
    const signIn = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const init = JSON.stringify({ ...signIn, body: JSON.stringify(passwordOf('viewer')) })
    assert.equal(await page.evaluate(`fetch('/v1/auth/session', ${init}).then(({ status }) => status)`), 200)
    await page.goto('/orders')
    const operator = await service.bearer('operator')
    for (const [name, bytes] of Object.entries(hostile)) {
      const orderId = await createdId(operator)
      const { body, text } = await addDocument(operator, orderId, bytes, {
        name,
        'content-type': 'text/html',
      })
      assert.ok(body.id, text)
      const path = `/v1/orders/${orderId}/documents/${body.id}`
      const attached = page.waitForEvent('frameattached')
      await page.evaluate(`{
        const frame = document.createElement('iframe')
        frame.src = ${JSON.stringify(path)}
        document.body.append(frame)
      }`)
      const frame = await attached
      if (isShown(name)) await frame.waitForURL(`**${path}`)
      assert.notEqual(await frame.title(), 'ran', name)
      const answer = await tab.goto(path).catch(() => null)
      assert.notEqual(await tab.title(), 'ran', name)
      const policy = answer?.headers()['content-security-policy']
      if (policy !== undefined) assert.match(policy, name.includes('pdf') ? /^default-src 'none'/ : /sandbox/)
    }
    assert.ok(!asked.includes('/v1/ran'), String(asked))
  })
})
