import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { createPublicKey, verify } from 'node:crypto'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { newAdministrator } from '../../support/administration.ts'
import { createdId } from '../../support/orders.ts'
import { freePort } from '../../support/process.ts'
import { publicUrl, testService } from '../../support/service.ts'
import {
  newSender,
  newWebhook,
  type Received,
  sealAll,
  sendUntil,
  startReceiver,
  type TestWebhook,
  toReceivers,
} from '../../support/webhooks.ts'

interface Message {
  headers: Record<string, string>
  text: string
}

/** The same message with one thing altered. */
const alterations: Record<string, (message: Message) => Message> = {
  body: ({ headers, text }) => ({ headers, text: text.replace('"ping"', '"pong"') }),
  id: ({ headers, text }) => ({ headers: { ...headers, 'webhook-id': `${headers['webhook-id']}0` }, text }),
  time: ({ headers, text }) => {
    const timestamp = String(Number(headers['webhook-timestamp']) + 1)
    return { headers: { ...headers, 'webhook-timestamp': timestamp }, text }
  },
  signature: ({ headers, text }) => {
    const changed = String(headers['webhook-signature']).replaceAll(/,(.)/g, (_, first) =>
      first === 'A' ? ',B' : ',A',
    )
    return { headers: { ...headers, 'webhook-signature': changed }, text }
  },
}

/** RFC 8410 §4: a public key of Ed25519 in DER begins with this. */
const spki = Buffer.from('302a300506032b6570032100', 'hex')

/** By node:crypto alone. */
function verifiesByKey(publicKey: string, { headers, text }: Message): boolean {
  const raw = Buffer.from(publicKey.replace(/^whpk_/, ''), 'base64')
  const key = createPublicKey({ key: Buffer.concat([spki, raw]), format: 'der', type: 'spki' })
  const signed = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`)
  const signatures = [...String(headers['webhook-signature']).matchAll(/v1a,(\S+)/g)]
  return signatures.some(([, signature = '']) => verify(null, signed, key, Buffer.from(signature, 'base64')))
}

function verifies(library: typeof StandardWebhook | typeof SvixWebhook, secret: string, message: Message) {
  try {
    new library(secret).verify(message.text, message.headers as never)
    return true
  } catch (error) {
    assert.match((error as Error).message, /[Ss]ignature|timestamp/)
    return false
  }
}

const page = readFile(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8')

async function scriptOfPage(name: string): Promise<string> {
  const script = new RegExp(`<!-- script: ${name} -->\n\`\`\`\\w+\n([\\s\\S]*?)\`\`\``).exec(await page)?.[1]
  assert.ok(script, name)
  return script
}

const lacksPython = spawnSync('python3', ['-c', 'import cryptography']).status !== 0

/** The receiver of the page, in another process. */
async function startDocumented(t: TestContext, secret: string, wantedPort = 0) {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-receiver-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'receive.mjs'), await scriptOfPage('receive.mjs'))
  const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url))
  await symlink(modules, join(folder, 'node_modules'))
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(wantedPort) }
  const child = spawn(process.execPath, ['receive.mjs'], { cwd: folder, env })
  t.after(() => child.kill())
  let printed = ''
  const port = await new Promise<string>((resolve) => {
    child.stdout.on('data', (text) => {
      printed += text
      const [, found] = /listening at (\d+)/.exec(printed) ?? []
      if (found !== undefined) resolve(found)
    })
  })
  return { port, printed: () => printed.split('\n').filter((line) => line.startsWith('order.')) }
}

describe('the receiver of docs/webhooks.md', () => {
  const service = testService({ env: toReceivers, clockRuns: true })

  it('takes each event once, and once more for each replay', async (t) => {
    const { caller } = await newAdministrator(service)
    await sealAll(service.db)
    const port = await freePort()
    const { path, secret } = await newWebhook(caller, { url: `http://127.0.0.1:${port}/` })
    const receiver = await startDocumented(t, secret, port)
    const ids = []
    for (let count = 0; count < 20; count += 1) ids.push(await createdId(caller))
    await sealAll(service.db)
    const sender = newSender(service)
    t.after(() => sender.stop())
    const lines = ids.map((id) => `order.created ${id}`)
    // A replay that comes before an attempt is kept has it made again, and not as a replay.
    const comeTo = (count: number) =>
      sendUntil(
        sender,
        async () => receiver.printed().length === count && (await caller.get(path)).body.waiting === 0,
      )
    await comeTo(20)
    for (const expected of [40, 60]) {
      assert.equal((await caller.post(`${path}/replay`, { from: 1 })).status, 204)
      await comeTo(expected)
    }
    assert.deepEqual(receiver.printed(), [...lines, ...lines, ...lines])
    lines.push(`order.created ${await createdId(caller)}`)
    await sealAll(service.db)
    await comeTo(61)
    assert.deepEqual(receiver.printed().slice(-21), lines)
  })
})

describe('a message is signed', () => {
  const service = testService({ env: toReceivers, clockRuns: true })
  let webhook: TestWebhook
  let first: Received
  /** After the secret was replaced. */
  let second: Received
  let replaced: { secret: string; publicKeys: string[] }
  before(async () => {
    const ends: (() => unknown)[] = []
    const receiver = await startReceiver({ after: (end) => void ends.push(end) })
    const { caller } = await newAdministrator(service)
    webhook = await newWebhook(caller, { url: receiver.url })
    assert.equal((await caller.post(`${webhook.path}/ping`)).body.status, 204)
    replaced = (await caller.post(`${webhook.path}/secrets`)).body
    await caller.post(`${webhook.path}/ping`)
    const [one, other] = receiver.received
    assert.ok(one && other)
    first = one
    second = other
    for (const end of ends) await end()
  })

  for (const [name, library] of Object.entries({ standardwebhooks: StandardWebhook, svix: SvixWebhook })) {
    it(`so that ${name} accepts it, and refuses it if anything is altered`, () => {
      assert.ok(verifies(library, webhook.secret, first))
      for (const [what, alter] of Object.entries(alterations)) {
        assert.equal(verifies(library, webhook.secret, alter(first)), false, what)
      }
      assert.equal(verifies(library, replaced.secret, first), false)
    })
  }

  it('so that node:crypto accepts it by the public key, and refuses it if anything is altered', () => {
    const [key = ''] = webhook.publicKeys
    assert.ok(verifiesByKey(key, first))
    for (const [what, alter] of Object.entries(alterations)) {
      assert.equal(verifiesByKey(key, alter(first)), false, what)
    }
    assert.equal(verifiesByKey(replaced.publicKeys[0] ?? '', first), false)
  })

  it('by the replaced secret too, for a day', () => {
    assert.equal(second.headers['webhook-signature']?.split(' ').length, 4)
    for (const secret of [webhook.secret, replaced.secret]) {
      assert.ok(verifies(StandardWebhook, secret, second))
    }
    assert.equal(replaced.publicKeys.length, 2)
    for (const key of replaced.publicKeys) assert.ok(verifiesByKey(key, second))
    assert.equal(replaced.publicKeys[1], webhook.publicKeys[0])
  })

  it('so that the Python of docs/webhooks.md accepts it, and refuses it if anything is altered', {
    skip: lacksPython && 'needs Python with cryptography',
  }, async () => {
    const messages = [first, ...Object.values(alterations).map((alter) => alter(first))]
    const tried = `${await scriptOfPage('verify.py')}
import json, sys
for key, headers, text in json.load(sys.stdin):
    try:
        verify(key, headers, text.encode())
        print("accepted")
    except InvalidSignature:
        print("refused")
`
    const input = JSON.stringify(messages.map(({ headers, text }) => [webhook.publicKeys[0], headers, text]))
    const { stdout, stderr } = spawnSync('python3', ['-c', tried], { input, encoding: 'utf8' })
    assert.equal(stderr, '')
    assert.equal(stdout, `accepted\n${'refused\n'.repeat(4)}`)
  })

  it('so that the receiver of docs/webhooks.md takes what is genuine and nothing forged', async (t) => {
    const { port } = await startDocumented(t, webhook.secret)
    const send = async ({ headers, text }: Message) => {
      const kept = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
        name,
        headers[name],
      ])
      const given = Object.fromEntries(kept) as Record<string, string>
      return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: given, body: text })).status
    }
    assert.equal(await send(first), 204)
    for (const alter of Object.values(alterations)) assert.equal(await send(alter(first)), 401)
  })

  it('with a checkpoint of this log, and the id of the webhook in a trial', () => {
    const { type, data, checkpoint } = JSON.parse(first.text)
    assert.deepEqual([type, data], ['ping', { id: webhook.id }])
    assert.ok(checkpoint.startsWith(`${new URL(publicUrl).host}/log\n`))
  })
})
