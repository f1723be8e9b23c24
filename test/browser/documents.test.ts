import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { launchChromium } from '../support/browser/chromium.ts'
import { addDocument, files } from '../support/documents.ts'
import { createdId } from '../support/orders.ts'
import { passwordOf, startService } from '../support/service.ts'

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
  'png.html': Buffer.concat([files.png, Buffer.from(html)]),
  'jpeg.html': Buffer.concat([files.jpeg, Buffer.from(html)]),
  'webp.html': Buffer.concat([files.webp, Buffer.from(html)]),
  'utf16.html': Buffer.from(`\ufeff${html}`, 'utf16le'),
  'utf7.html': '+ADw-script+AD4-document.title=1+ADw-/script+AD4-',
}

/** Everything else is a download. */
const isShown = (name: string) => name !== 'utf16.html'

describe('a hostile document in the browser', () => {
  it('runs nothing, as a page and in a frame of the app, whatever it is called', async (t) => {
    const browser = await launchChromium()
    t.after(() => browser.close())
    const context = await browser.newContext({ baseURL: service.baseUrl.replace('127.0.0.1', 'localhost') })
    const page = await context.newPage()
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
      const tab = await context.newPage()
      const answer = await tab.goto(path).catch(() => null)
      assert.notEqual(await tab.title(), 'ran', name)
      if (answer !== null) assert.match(answer.headers()['content-security-policy'] ?? '', /sandbox/)
      await tab.close()
    }
    assert.ok(!asked.includes('/v1/ran'), String(asked))
  })
})
