import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, open as openFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { calculateJwkThumbprint, exportJWK, type JWK, SignJWT } from 'jose'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { lookAt } from '../support/browser/looks.ts'
import { openBrowser, screenshot, sideBySide } from '../support/browser/person.ts'
import { checker, statements, verdicts } from '../support/browser/verify-page.ts'
import { checkpointOver, headOf, makeLog, plainEvent, renamed } from '../support/log.ts'
import { createdId } from '../support/orders.ts'
import { publicUrl, startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
const folder = await mkdtemp(join(tmpdir(), 'countersign-verify-'))
after(() => rm(folder, { recursive: true }))

let receipt: string
let keys: string
before(async () => {
  const id = await createdId(await service.bearer('operator'), {
    customer: 'Müller & Söhne',
    total: 48_250.25,
  })
  const admin = await service.bearer('admin')
  assert.equal((await admin.patch(`/v1/orders/${id}/approve`)).status, 204)
  receipt = (await admin.get(`/v1/orders/${id}/receipt`)).body.receipt
  keys = (await admin.get('/.well-known/jwks.json')).text
})

const claimsOf = (jws: string) => JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString())

/** The receipt with other claims and its old signature. */
function altered(jws: string, change: (text: string) => string): string {
  const [header, claims = '', signature] = jws.split('.')
  const said = change(Buffer.from(claims, 'base64url').toString())
  return [header, Buffer.from(said).toString('base64url'), signature].join('.')
}

/** A key pair of someone, and receipts that they sign. */
async function signer(): Promise<{ jwk: JWK; sign(claims: object, kid?: string): Promise<string> }> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  return {
    jwk: { ...jwk, kid, alg: 'RS256', use: 'sig' },
    sign: (claims, name = kid) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: name, typ: 'countersign-receipt+jwt' })
        .sign(privateKey),
  }
}

const open = (t: TestContext, file?: string) => checker(t, { browser, service, ...(file && { file }) })

describe('the page that checks receipts', sideBySide, () => {
  for (const from of ['service', 'disk'] as const) {
    it(`says what a receipt and its keys prove, without a request, from the ${from}`, async (t) => {
      const { page, requests, give, says } = await open(
        t,
        from === 'disk' ? join(folder, 'saved.html') : undefined,
      )
      await says('nothing')
      await give(['receipt.jwt', receipt], ['jwks.json', keys])
      await says('holds')
      const { order } = claimsOf(receipt)
      await page
        .getByRole('heading', { name: `Receipt of order #${order.number} from ${publicUrl}` })
        .waitFor()
      const [{ kid }] = JSON.parse(keys).keys
      const proven = ((await statements(page, 'Proven').textContent()) ?? '').replaceAll(
        /[\u2068\u2069]/g,
        '',
      )
      assert.ok(proven.includes(`The key ${kid} in jwks.json signed this receipt of ${publicUrl}.`), proven)
      assert.ok(
        proven.includes('for Müller & Söhne has a total of 48,250.25. It was created by operator on'),
        proven,
      )
      assert.ok(proven.includes('admin approved it on'), proven)
      await statements(page, 'What this does not prove')
        .getByText(`That the keys belong to ${publicUrl}.`)
        .waitFor()
      await statements(page, 'What this does not prove').getByText('no passkey signed it').waitFor()
      assert.deepEqual(requests, [])
    })
  }

  it('proves nothing when nothing is asked', async (t) => {
    const { page, give, says } = await open(t)
    await give(['jwks.json', keys])
    await page.getByRole('button', { name: 'Remove jwks.json' }).waitFor()
    await says('nothing')
    assert.equal(await page.locator('.tone-good').count(), 0)
  })

  it('asks for keys, and says what the receipt says without them', async (t) => {
    const { page, give, says } = await open(t)
    await give(['receipt.jwt', receipt])
    await says('unproven')
    const missing = statements(page, 'Not proven')
    await missing.getByText('has a total of 48,250.25').waitFor()
    await missing.getByText('None of this is proven yet.').waitFor()
    assert.equal(await page.locator('.tone-good').count(), 0)
    await give(['jwks.json', keys])
    await says('holds')
    await page.getByRole('button', { name: 'Remove jwks.json' }).click()
    await says('unproven')
  })

  it('takes a pasted text and an answer of the service too', async (t) => {
    const { page, says } = await open(t)
    for (const text of [` ${receipt}\n`, keys]) {
      await page.getByLabel('Or paste').fill(text)
      await page.getByRole('button', { name: 'Add this text' }).click()
    }
    await says('holds')
    await page.getByRole('button', { name: 'Remove' }).first().click()
    await says('nothing')
    await page.getByLabel('Or paste').fill(JSON.stringify({ receipt }))
    await page.getByRole('button', { name: 'Add this text' }).click()
    await says('holds')
  })

  it('takes files that are dropped', async (t) => {
    const { page, says } = await open(t)
    await page.evaluate(`{
      const dataTransfer = new DataTransfer()
      for (const [name, text] of ${JSON.stringify([
        ['a', receipt],
        ['b', keys],
      ])}) {
        dataTransfer.items.add(new File([text], name))
      }
      document.body.dispatchEvent(new DragEvent('dragover', { bubbles: true, dataTransfer }))
      document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, dataTransfer }))
    }`)
    await says('holds')
  })

  it('takes the receipt of a link, but no keys, and asks no server', async (t) => {
    const { person, page, requests, give, says } = await open(t)
    await person.network('normal')
    const keysInLink = encodeURIComponent(keys)
    await page.goto(`/verify#receipt=${receipt}&keys=${keysInLink}&jwks=${keysInLink}`)
    await says('unproven')
    await page.getByText('None of this is proven yet.').waitFor()
    await give(['jwks.json', keys])
    await says('holds')
    assert.ok(
      requests.every((url) => !url.includes(receipt)),
      requests.join(),
    )
  })

  it('does not call a receipt proven that was altered', async (t) => {
    const { page, give, says } = await open(t)
    await give(
      ['receipt.jwt', altered(receipt, (said) => said.replace('48250.25', '98250.25'))],
      ['jwks.json', keys],
    )
    await says('fails')
    await statements(page, 'Does not hold')
      .getByText('the receipt was altered: its signature does not match')
      .waitFor()
    assert.equal(await statements(page, 'Proven').count(), 0)
    assert.equal(await page.getByText('98,250.25').count(), 0)
  })

  it('is red although another receipt holds', async (t) => {
    const { page, give, says } = await open(t)
    const bad = altered(receipt, (said) => said.replace('admin', 'nobody'))
    await give(['good.jwt', receipt], ['bad.jwt', bad], ['jwks.json', keys])
    await says('fails')
    assert.equal(await statements(page, 'Proven').count(), 1)
  })

  it('names keys that did not sign it, also those that borrow the name of one that did', async (t) => {
    const { page, give, says } = await open(t)
    const { jwk } = await signer()
    await give(['receipt.jwt', receipt], ['others.json', JSON.stringify({ keys: [jwk] })])
    await says('fails')
    await statements(page, 'Does not hold').getByText('and you added other keys').waitFor()
    const [{ kid }] = JSON.parse(keys).keys
    await give(['borrowed.json', JSON.stringify({ keys: [{ ...jwk, kid }] })])
    await statements(page, 'Does not hold').getByText('its signature does not match').waitFor()
    await says('fails')
    await give(['jwks.json', keys])
    await says('holds')
  })

  it('names the key by its content, whatever the file calls it', async (t) => {
    const { page, give, says } = await open(t)
    const { jwk, sign } = await signer()
    const kid = 'the key of the service'
    const forged = await sign({ ...claimsOf(receipt), iss: 'https://orders.example.com' }, kid)
    await give(['receipt.jwt', forged], ['k.json', JSON.stringify({ keys: [{ ...jwk, kid }] })])
    await says('holds')
    await statements(page, 'Proven').getByText(`The key ${jwk.kid} in`).waitFor()
    await statements(page, 'What this does not prove').getByText('has anything to do with it').waitFor()
  })

  it('shows names as text, never as markup', async (t) => {
    const { person, page, give, says } = await open(t)
    const { jwk, sign } = await signer()
    const markup = '<img src=x onerror="document.title=1"></li><script>document.title=1</script>'
    const { order, approvals, ...claims } = claimsOf(receipt)
    const logged = {
      ...renamed(plainEvent, { by: markup, customer: markup }),
      kind: 'approved',
      data: { total: order.total },
    }
    const lines = makeLog([{ ...logged, subject: { kind: 'order', id: order.id } }])
    const forged = await sign({
      ...claims,
      line: lines[0],
      proof: [],
      checkpoint: await checkpointOver(headOf(lines)),
      order: { ...order, customer: markup, createdBy: markup },
      approvals: [{ ...approvals[0], by: markup, for: markup }],
    })
    await give([`${'<b>'.repeat(20)}.jwt`, forged], ['<i>k</i>.json', JSON.stringify({ keys: [jwk] })])
    await says('holds')
    await statements(page, 'Proven').getByText(markup).first().waitFor()
    assert.equal(await page.locator('main :is(img, script, b, i)').count(), 0)
    assert.equal(await page.title(), 'Check a receipt or the log · Countersign')
    await person.assertClean()
  })

  it('says of any other file that it cannot check it, and goes on', async (t) => {
    const { page, give, says } = await open(t)
    const large = join(folder, 'large.jwt')
    const file = await openFile(large, 'w')
    await file.truncate(100 * 1_048_576)
    await file.close()
    const { jwk, sign } = await signer()
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
      ['empty.jwt', await sign({})],
      ['types.jwt', await sign({ ...claimsOf(receipt), order: { customer: {} }, approvals: [null] })],
      ['many.jwt', await sign({ ...claimsOf(receipt), approvals: { length: 1e9 } })],
      ['instant.jwt', altered(receipt, (said) => said.replaceAll(/"[^"]*Z"/g, '"soon"'))],
      ['keys.json', JSON.stringify({ keys: [null, 1, {}, { __proto__: null, kid: 'x' }, { kid: {} }, jwk] })],
    ] satisfies [string, string | Buffer][]
    await page.getByLabel('Choose files').setInputFiles(large)
    await page.getByText('it is larger than any receipt, key or checkpoint').waitFor()
    for (const one of strange) {
      await give(one)
      await page.getByRole('button', { name: `Remove ${one[0]}`, exact: true }).waitFor()
    }
    await says('fails')
    assert.equal(await page.locator('.tone-good').count(), 0)
    assert.equal(await page.evaluate('({}).receipt'), undefined)
    for (const button of await page.getByRole('button', { name: 'Remove' }).all())
      assert.ok(await button.isVisible())
    while ((await page.getByRole('button', { name: 'Remove' }).count()) > 0) {
      await page.getByRole('button', { name: 'Remove' }).first().click()
    }
    await give(['receipt.jwt', receipt], ['jwks.json', keys])
    await says('holds')
  })

  it('says that a key cannot be used if it is malformed', async (t) => {
    const { page, give, says } = await open(t)
    const [key] = JSON.parse(keys).keys
    await give(['receipt.jwt', receipt], ['jwks.json', JSON.stringify({ keys: [{ ...key, n: '!', e: 7 }] })])
    await says('fails')
    await statements(page, 'Does not hold').getByText('the key cannot be used').waitFor()
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
    await give(['receipt.jwt', receipt], ['jwks.json', keys])
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
    const bad = altered(receipt, (said) => said.replace('admin', 'nobody'))
    const reach =
      (verdict: string, ...files: [string, string][]) =>
      async () => {
        await page.goto('about:blank')
        await page.goto('/verify')
        await give(...files)
        await page.getByRole('status').getByText(verdict).waitFor()
      }
    const views = {
      'verify-empty': reach(verdicts.nothing),
      'verify-holds': reach(verdicts.holds, ['receipt.jwt', receipt], ['jwks.json', keys]),
      'verify-fails': reach(verdicts.fails, ['receipt.jwt', bad], ['x'.repeat(90), 'x'], ['jwks.json', keys]),
    }
    await lookAt(t, person, views)
    await page.emulateMedia({ media: 'print' })
    assert.equal(await page.getByLabel('Choose files').isVisible(), false)
    assert.equal(await page.getByRole('status').isVisible(), true)
    await checkAccessibility(page)
    await screenshot(page, 'verify-print')
  })
})
