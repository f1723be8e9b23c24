import assert from 'node:assert/strict'
import { mkdtemp, open as openFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { spellVerifierKey } from '../../proof/note.ts'
import { judgeReceipt } from '../../proof/verdict.ts'
import { newSigner } from '../../witness/test/signed-log.ts'
import { approvedOrder, logAround, origin, receiptOver, spellReceipt } from '../support/approved-order.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { lookAt } from '../support/browser/looks.ts'
import { openBrowser, screenshot, sideBySide } from '../support/browser/person.ts'
import { checker, statements, verdicts } from '../support/browser/verify-page.ts'
import { renamed } from '../support/log.ts'
import { createdId } from '../support/orders.ts'
import { publicUrl, startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
const folder = await mkdtemp(join(tmpdir(), 'countersign-verify-'))
after(() => rm(folder, { recursive: true }))

let receipt: string
let keys: string
let key: string
before(async () => {
  const id = await createdId(await service.bearer('operator'), {
    customer: 'Müller & Söhne',
    total: 48_250.25,
  })
  const admin = await service.bearer('admin')
  assert.equal((await admin.patch(`/v1/orders/${id}/approve`)).status, 204)
  receipt = (await admin.get(`/v1/orders/${id}/receipt`)).body.receipt
  keys = (await admin.get('/v1/log/key')).text
  key = JSON.parse(keys).keys[0].verifierKey
})

/** The receipt with other claims and its old signature. */
function altered(jws: string, change: (text: string) => string): string {
  const [header, claims = '', signature] = jws.split('.')
  const said = change(Buffer.from(claims, 'base64url').toString())
  return [header, Buffer.from(said).toString('base64url'), signature].join('.')
}

const open = (t: TestContext, file?: string) => checker(t, { browser, service, ...(file && { file }) })
const plain = async (text: Promise<string | null>) => (await text)?.replaceAll(/[\u2068\u2069]/g, '')

describe('the page that checks receipts', sideBySide, () => {
  it('offers the key of its service in one press, and says on what the verdict rests', async (t) => {
    const { page, requests, add, says, said } = await open(t)
    await says('nothing')
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

  it('does the same from a disk, without a request, by a key that the person has from the service', async (t) => {
    const { page, requests, add, give, says } = await open(t, join(folder, 'saved.html'))
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

  it('believes no key that only came along with a receipt, and says that its service has another', async (t) => {
    const { page, add, give, says, said } = await open(t)
    const forger = await newSigner(origin)
    const forged = spellReceipt(receiptOver(logAround(await approvedOrder()), [forger]))
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

  it('takes a certificate, a pasted text, an answer of the service, and files that are dropped', async (t) => {
    const { page, give, giveOnly, says } = await open(t)
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

  it('takes the receipt of a link, but no keys, and sends it to no server', async (t) => {
    const { person, page, requests, says } = await open(t)
    await person.network('normal')
    const inLink = encodeURIComponent(keys)
    await page.goto(`/verify#receipt=${receipt}&keys=${inLink}&jwks=${inLink}`)
    await says('unproven')
    await page.getByRole('button', { name: /^Check with the key of / }).click()
    await says('holds')
    assert.ok(
      requests.every((url) => !url.includes(receipt)),
      requests.join(),
    )
  })

  it('shows nothing of a receipt that was altered', async (t) => {
    const { page, giveOnly, says, said } = await open(t)
    await giveOnly(
      ['receipt.jwt', altered(receipt, (said) => said.replaceAll('48250.25', '98250.25'))],
      ['key.txt', key],
    )
    await says('fails')
    assert.match(await said('Does not hold'), /Line \d+ does not fit: its hash is not that of its content/)
    for (const heading of ['Proven', 'What it says'] as const) {
      assert.equal(await statements(page, heading).count(), 0)
    }
    assert.equal(await page.getByText('98,250.25').count(), 0)
  })

  it('shows names as text, never as markup', async (t) => {
    const { person, page, give, says } = await open(t)
    const markup = '<img src=x onerror="document.title=1"></li><script>document.title=1</script>'
    const log = await newSigner(origin, 'ed25519', service.logKeys[0])
    const contents = (await approvedOrder()).map((line) => renamed(line, { by: markup, customer: markup }))
    const strange = spellReceipt(receiptOver(logAround(contents), [log]))
    await give([`${'<b>'.repeat(20)}.jwt`, strange], ['<i>k</i>.txt', key])
    await says('holds')
    await statements(page, 'Proven').getByText(markup).first().waitFor()
    assert.equal(await page.locator('main :is(img, script, b, i)').count(), 0)
    assert.equal(await page.title(), 'Check a receipt or the log · Countersign')
    await person.assertClean()
  })

  it('says of any other file that it cannot check it, and goes on', async (t) => {
    const { page, give, giveOnly, says } = await open(t)
    const large = join(folder, 'large.jwt')
    const file = await openFile(large, 'w')
    await file.truncate(100 * 1_048_576)
    await file.close()
    const deep = '['.repeat(500_000)
    const strange = [
      ['empty', ''],
      ['binary', Buffer.from([0xff, 0xfe, 0x00, 0x80])],
      ['deep.json', deep],
      ['deeper.json', `{"keys":${deep}${']'.repeat(500_000)}}`],
      ['proto.json', '{"__proto__":{"receipt":"a.b.c","keys":[]},"constructor":{"keys":[]}}'],
      ['null.json', 'null'],
      ['page.html', '<script>document.title=1</script>'],
      ['token.jwt', 'a.b.c'],
      ['empty.jwt', altered(receipt, () => '{}')],
      [
        'types.jwt',
        altered(receipt, (said) => said.replace(/"lines":.*"checkpoint"/, '"lines":[null],"checkpoint"')),
      ],
      [
        'many.jwt',
        altered(receipt, (said) =>
          said.replace(/"lines":.*"checkpoint"/, '"lines":{"length":1e9},"checkpoint"'),
        ),
      ],
      ['instant.jwt', altered(receipt, (said) => said.replaceAll(/"[^"]*Z"/g, '"soon"'))],
      ['keys.json', JSON.stringify({ keys: [null, 1, {}, { __proto__: null, kid: 'x' }, { kid: {} }] })],
    ] satisfies [string, string | Buffer][]
    await page.getByLabel('Choose files').setInputFiles(large)
    await page.getByText('it is larger than any receipt, key or checkpoint').waitFor()
    await give(...strange)
    await says('fails')
    for (const [name] of strange) {
      assert.ok(await page.getByRole('button', { name: `Remove ${name}`, exact: true }).isVisible(), name)
    }
    assert.equal(await page.locator('.tone-good').count(), 0)
    assert.equal(await page.evaluate('({}).receipt'), undefined)
    await giveOnly(['receipt.jwt', receipt], ['key.txt', key])
    await says('holds')
  })

  it('is used with the keyboard alone', async (t) => {
    const { page, says } = await open(t)
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

  it('keeps nothing that it showed when the browser saves the page as it is', async (t) => {
    const { person, page, give, says } = await open(t)
    await give(['receipt.jwt', receipt], ['key.txt', key])
    await says('holds')
    const kept = join(folder, 'kept.html')
    await writeFile(kept, `<!doctype html>${await page.evaluate('document.documentElement.outerHTML')}`)
    person.expectFault(/^request to another origin: file:\/\/.*\/kept\.html$/)
    await page.goto(pathToFileURL(kept).href)
    await says('nothing')
    assert.equal(await page.getByRole('article').count(), 0)
  })

  it('fits every width, theme and paper', async (t) => {
    const person = await browser.person(t, { service })
    const { page } = person
    const give = (...files: [string, string][]) =>
      page
        .getByLabel('Choose files')
        .setInputFiles(files.map(([name, text]) => ({ name, mimeType: '', buffer: Buffer.from(text) })))
    const bad = altered(receipt, (said) => said.replaceAll('admin', 'nobody'))
    const reach =
      (verdict: RegExp, ...files: [string, string][]) =>
      async () => {
        await page.goto('about:blank')
        await page.goto('/verify')
        await give(...files)
        const press = page.getByRole('button', { name: /^Check with the key of / })
        if (verdict === verdicts.holds) await press.click()
        await page.getByRole('status').getByText(verdict).waitFor()
      }
    const views = {
      'verify-empty': reach(verdicts.nothing),
      'verify-holds': reach(verdicts.holds, ['receipt.jwt', receipt]),
      'verify-unproven': reach(verdicts.unproven, ['receipt.jwt', receipt], ['key.txt', key]),
      'verify-fails': reach(verdicts.fails, ['receipt.jwt', bad], ['x'.repeat(90), 'x']),
    }
    await lookAt(t, person, views)
    await page.emulateMedia({ media: 'print' })
    assert.equal(await page.getByLabel('Choose files').isVisible(), false)
    assert.equal(await page.getByRole('status').isVisible(), true)
    await checkAccessibility(page)
    await screenshot(page, 'verify-print')
  })
})
