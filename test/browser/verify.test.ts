import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { spellVerifierKey } from '../../proof/note.ts'
import { judgeReceipt } from '../../proof/verdict.ts'
import { checkpointBy, newSigner } from '../../witness/test/signed-log.ts'
import { approvedOrder, logAround, origin, receiptOver, spellReceipt } from '../support/approved-order.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { lookAt } from '../support/browser/looks.ts'
import { openBrowser, screenshot } from '../support/browser/person.ts'
import { type Checker, checker, headings, statements } from '../support/browser/verify-page.ts'
import { exportOf, headOf, makeLog, orderEvent, renamed } from '../support/log.ts'
import { createdId } from '../support/orders.ts'
import { publicUrl, startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
const folder = await mkdtemp(join(tmpdir(), 'countersign-verify-'))
after(() => rm(folder, { recursive: true }))

let receipt: string
let keys: string
let key: string
let addressOfReceipt: string
before(async () => {
  const id = await createdId(await service.bearer('operator'), {
    customer: 'Müller & Söhne',
    total: 48_250.25,
  })
  const admin = await service.bearer('admin')
  assert.equal((await admin.patch(`/v1/orders/${id}/approve`)).status, 204)
  addressOfReceipt = `/v1/orders/${id}/receipt`
  receipt = (await admin.get(addressOfReceipt)).body.receipt
  keys = (await admin.get('/v1/log/key')).text
  key = JSON.parse(keys).keys[0].verifierKey
})

/** The receipt with other claims and its old signature. */
function altered(jws: string, change: (text: string) => string): string {
  const [header, claims = '', signature] = jws.split('.')
  const said = change(Buffer.from(claims, 'base64url').toString())
  return [header, Buffer.from(said).toString('base64url'), signature].join('.')
}

const plain = async (text: Promise<string | null>) => (await text)?.replaceAll(/[\u2068\u2069]/g, '')

describe('the page that checks receipts and logs', () => {
  const person = browser.samePerson({ service })
  let at: Checker
  before(async () => {
    at = await checker(person, service)
  })

  it('is used with the keyboard alone', async () => {
    const { page, says } = at
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.id'), 'files')
    await page.keyboard.press('Tab')
    await page.keyboard.insertText(receipt)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await says('unproven')
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Remove')
    await page.keyboard.press('Enter')
    await says('nothing')
    assert.equal(await page.evaluate('document.activeElement.id'), 'files')
  })

  it('offers the key of its service in one press, and says on what the verdict rests', async () => {
    const { page, requests, add, says, said } = at
    await add(['receipt.jwt', receipt])
    await says('unproven')
    assert.match(await said('What it says'), /for Müller & Söhne has a total of 48,250\.25\./)
    assert.equal(await page.locator('.tone-good').count(), 0)
    const { host } = new URL(page.url())
    await page.getByRole('button', { name: `Check with the key of ${host}` }).click()
    await says('holds')
    const rests = `Valid, if the key that ${host} gave this page is the key of the log of orders.example.com.`
    assert.equal(await plain(page.getByRole('status').textContent()), rests)
    const proven = await said('Proven')
    assert.match(
      proven,
      /operator created it on .*Rule: one approval from people or services, also from the creator\./,
    )
    assert.match(
      proven,
      /admin approved it on .*The approval is line \d+ of the log orders\.example\.com\/log/,
    )
    const { number } = (await judgeReceipt(receipt, [])).order ?? assert.fail()
    await page.getByRole('heading', { name: `Receipt of order #${number} from ${publicUrl}` }).waitFor()
    assert.match(await said('What this does not prove'), /no passkey signed it/)
    await page.getByRole('button', { name: 'Remove Key of' }).click()
    await says('unproven')
    assert.deepEqual(requests, [])
  })

  it('takes what the service gives: a receipt, a proof, its log, a checkpoint, keys', async () => {
    const { giveOnly, says, said } = at
    const admin = await service.bearer('admin')
    const lines = await admin.get('/v1/log', { accept: 'application/jsonl' })
    const { text: proof } = await admin.get(addressOfReceipt, { accept: 'text/plain' })
    await giveOnly(
      ['receipt.jwt', receipt],
      ['approval.tlog-proof', proof],
      ['jwks.json', (await service.client().get('/.well-known/jwks.json')).text],
      ['log.jsonl', lines.text],
      ['day.txt', (await admin.get('/v1/log/checkpoint')).text],
      ['key.json', keys],
    )
    await says('holds')
    const proven = await said('Proven')
    assert.match(proven, /In log\.jsonl, line \d+ is the one of the receipt\./)
    assert.match(
      proven,
      /says “approved” by account 1 on .* It is about order \S+, with a total of 48,250\.25\./,
    )
  })

  it('believes no key that only came along with a receipt, and says that its service has another', async () => {
    const { page, add, give, giveOnly, says, said } = at
    const forger = await newSigner(origin)
    const forged = spellReceipt(receiptOver(logAround(await approvedOrder()), [forger]))
    await giveOnly()
    await add(['receipt.jwt', forged], ['key.txt', spellVerifierKey(forger.key)])
    await says('unproven')
    assert.match(await said('Still needed'), /Nobody vouches for the checkpoint/)
    await give()
    await says('unproven')
    assert.match(
      await said('Still needed'),
      /publishes another key of its log than orders\.example\.com\/log\+/,
    )
    assert.equal(await page.locator('.verdict.tone-good').count(), 0)
  })

  it('takes a certificate, a pasted text, an answer of the service, and files that are dropped', async () => {
    const { page, give, giveOnly, says } = at
    const certificate = `<!doctype html>\n<p>Anything.</p><template id="receipt">${receipt}</template>`
    await giveOnly(['certificate.html', certificate], ['key.txt', key])
    await says('holds')
    for (const text of [` ${receipt}\n`, JSON.stringify({ receipt })]) {
      await giveOnly(['key.txt', key])
      await page.getByLabel('Or paste').fill(text)
      await page.getByRole('button', { name: 'Add this text' }).click()
      await says('unproven')
      await give()
      await says('holds')
    }
    await giveOnly(
      ['key.txt', key],
      ['jwks.json', (await service.client().get('/.well-known/jwks.json')).text],
    )
    await says('nothing')
    await page.evaluate(`{
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([${JSON.stringify(receipt)}], 'dropped'))
      document.body.dispatchEvent(new DragEvent('dragover', { bubbles: true, dataTransfer }))
      document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, dataTransfer }))
    }`)
    await says('unproven')
    await give()
    await says('holds')
    await give(['bad.jwt', altered(receipt, (said) => said.replaceAll('admin', 'nobody'))])
    await says('fails')
    assert.equal(await statements(page, 'Proven').count(), 1)
  })

  it('shows names as text, never as markup', async () => {
    const { page, giveOnly, says } = at
    const markup = '<img src=x onerror="document.title=1"></li><script>document.title=1</script>'
    const log = await newSigner(origin, 'ed25519', service.logKeys[0])
    const contents = (await approvedOrder()).map((line) => renamed(line, { by: markup, customer: markup }))
    const strange = spellReceipt(receiptOver(logAround(contents), [log]))
    await giveOnly([`${'<b>'.repeat(20)}.jwt`, strange], ['<i>k</i>.txt', key])
    await says('holds')
    await statements(page, 'Proven').getByText(markup).first().waitFor()
    assert.equal(await page.locator('main :is(img, script, b, i)').count(), 0)
    assert.equal(await page.title(), 'Check a receipt or the log · Countersign')
    await person.assertClean()
  })

  it('reads a long log in steps, and starts again when something is added meanwhile', async () => {
    const { page, add, give, giveOnly, says, said } = at
    const log = await newSigner(origin, 'ed25519', service.logKeys[0])
    const many = makeLog(Array.from({ length: 1_000 }, () => orderEvent))
    await giveOnly()
    await page.evaluate(`{
      Object.defineProperty(globalThis, 'verdicts', { value: [] })
      const verdict = document.querySelector('#verdict')
      new MutationObserver(() => verdicts.push(verdict.textContent)).observe(verdict, { childList: true })
    }`)
    await Promise.all([
      add(['long.jsonl', exportOf(many)]),
      add(['day.txt', checkpointBy([log], origin, headOf(many))]),
    ])
    await give(['key.txt', key])
    await says('holds')
    assert.match(await said('Proven'), /Each of the 1,000 lines fits its hash/)
    assert.match(await page.evaluate<string>('verdicts.join()'), /Reading the log: [1-9]0 % …/)
  })

  it('takes the receipt of a link, but no keys, and sends it to no server', async () => {
    const { page, requests, says } = at
    await person.network('normal')
    requests.length = 0
    const inLink = encodeURIComponent(keys)
    await page.goto('about:blank')
    await page.goto(`/verify#receipt=${receipt}&keys=${inLink}&jwks=${inLink}`)
    await says('unproven')
    await page.getByRole('button', { name: /^Check with the key of / }).click()
    await says('holds')
    assert.ok(requests.length > 0)
    assert.ok(
      requests.every((url) => !url.includes(receipt)),
      requests.join(),
    )
  })

  it('fits every width, theme and paper', async (t) => {
    const { page, add, says } = at
    const forger = await newSigner(origin)
    const forged = spellReceipt(receiptOver(logAround(await approvedOrder()), [forger]))
    await lookAt(t, person, {
      'verify-holds': () => says('holds'),
      async 'verify-fails'() {
        const bad = altered(receipt, (said) => said.replaceAll('admin', 'nobody'))
        await add(['bad.jwt', bad], ['forged.jwt', forged], ['key.txt', key], ['x'.repeat(90), 'x'])
        await says('fails')
        for (const heading of headings) await statements(page, heading).first().waitFor()
      },
    })
    await page.emulateMedia({ media: 'print' })
    assert.equal(await page.getByLabel('Choose files').isVisible(), false)
    assert.equal(await page.getByRole('status').isVisible(), true)
    await checkAccessibility(page)
    await screenshot(page, 'verify-print')
    await page.emulateMedia({ media: 'screen' })
  })

  it('does the same from a disk, without a request, by a key that the person has from the service', async () => {
    const { page, requests, add, give, says } = await checker(person, service, join(folder, 'saved.html'))
    await add(['receipt.jwt', receipt])
    await says('unproven')
    await page.getByText('from https://orders.example.com/v1/log/key').waitFor()
    assert.equal(await page.getByRole('button', { name: /^Check with/ }).count(), 0)
    await give(['key.json', keys])
    await says('holds')
    const rests = 'Valid, if the key in key.json is the key of the log of orders.example.com.'
    assert.equal(await plain(page.getByRole('status').textContent()), rests)
    assert.deepEqual(requests, [])
  })

  it('keeps nothing that it showed when the browser saves the page as it is', async () => {
    const { page, says } = at
    const kept = join(folder, 'kept.html')
    await writeFile(kept, `<!doctype html>${await page.evaluate('document.documentElement.outerHTML')}`)
    person.expectFault(/^request to another origin: file:\/\/.*\/kept\.html$/)
    await page.goto(pathToFileURL(kept).href)
    await says('nothing')
    assert.equal(await page.getByRole('article').count(), 0)
  })
})
