import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Passwords } from '../../server/auth/credentials/passwords/passwords.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import { prepareDemo } from '../../server/demo/demo.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { Client } from '../support/client.ts'
import { createTestDatabase } from '../support/database.ts'
import { newPasskey, signInByPasskey } from '../support/passkeys.ts'
import { freePort, startServer } from '../support/process.ts'
import { credentialsOf, newProduction, testProduction } from '../support/production.ts'

describe('a start on a port that is taken', { concurrency: 2 }, () => {
  let holder: Server
  let taken: number
  before(async () => {
    holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const address = holder.address()
    assert.ok(typeof address === 'object' && address !== null)
    taken = address.port
  })
  after(() => holder.close())

  const refusal = (line: string) => ({
    message: `the server ended with 1:\nCountersign cannot start:\n  - ${line}\n`,
  })
  const start = (env: Record<string, string>) => startServer(['--dev', '--no-demo-orders'], env)

  it('ends with status 1 and one line, and closes the metrics listener too', async () => {
    const env = { PORT: String(taken), METRICS_PORT: String(await freePort()) }
    await assert.rejects(start(env), refusal(`PORT: ${taken} is in use at 127.0.0.1`))
  })

  it('names the setting of the listener that failed', async () => {
    await assert.rejects(
      start({ METRICS_PORT: String(taken) }),
      refusal(`METRICS_PORT: ${taken} is in use at 127.0.0.1`),
    )
  })
})

it('a database with demo accounts is refused in production: their passwords are public', async (t) => {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const { databaseUrl } = database
  const db = await openAppDatabase({ databaseUrl })
  const demo = { nowMilliseconds: Date.now(), passwords: new Passwords(), demoOrders: false }
  await db.write('seedDemo', await prepareDemo(demo))
  await db.close()
  const { env, remove } = await newProduction({ databaseUrl, accounts: false })
  t.after(remove)
  const start = startServer([], env)
  t.after(async () => (await start.catch(() => undefined))?.stop())
  await assert.rejects(start, /ended with 1:.*DATABASE_URL: the database has demo accounts/s)
})

describe('a key or database file that every account of the machine may read', () => {
  it('is named in the log, and other files are not', { skip: process.platform === 'win32' }, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'countersign-start-'))
    t.after(() => rm(folder, { recursive: true }))
    const files = ['SIGNING_KEY_FILES', 'LOG_KEY_FILES', 'ANTIFORGERY_KEY_FILE', 'DATABASE_URL']
    const [signing = '', logKey = '', antiforgery = '', database = ''] = files.map((name) =>
      join(folder, name),
    )
    const password = join(folder, 'password')
    const env = {
      PUBLIC_URL: 'https://orders.example.com',
      SIGNING_KEY_FILES: signing,
      LOG_KEY_FILES: logKey,
      ANTIFORGERY_KEY_FILE: antiforgery,
      DATABASE_URL: `file:${database}`,
    }
    /** The warnings of a start that soon fails, because the signing key is invalid. */
    async function warnings(mode: number, more = {}): Promise<string[]> {
      for (const file of [signing, logKey, antiforgery, database, password]) {
        await writeFile(file, Buffer.alloc(32).toString('base64'))
        await chmod(file, mode)
      }
      const output = await startServer([], { ...env, ...more }).then(
        (server) => server.output(),
        (error: Error) => error.message,
      )
      return [...output.matchAll(/"msg":"([A-Z_]+): every account of this machine may/g)].map(
        ([, setting]) => setting ?? '',
      )
    }
    assert.deepEqual(await warnings(0o640), [])
    assert.deepEqual(await warnings(0o644), files)
    const server = { DATABASE_URL: 'postgres://app@127.0.0.1/none', DATABASE_PASSWORD_FILE: password }
    assert.deepEqual(await warnings(0o644, server), [...files.slice(0, -1), 'DATABASE_PASSWORD_FILE'])
  })
})

describe('a start under another host name', () => {
  const production = testProduction()

  it('says how many people cannot use their passkeys, and how many that locks out', async () => {
    const server = await production.serve()
    const first = { client: () => new Client(server.baseUrl) }
    await newPasskey(first, { credentials: credentialsOf('admin') })
    const passkey = await newPasskey(first, { credentials: credentialsOf('operator') })
    const operator = await signInByPasskey(first, passkey)
    assert.equal((await operator.send('DELETE', '/v1/auth/password')).status, 204)
    await server.stop()
    const second = await production.serve({ PUBLIC_URL: 'https://signing.example.com' })
    assert.match(
      second.output(),
      /"msg":"PUBLIC_URL: the passkeys of 2 people are for another host than signing\.example\.com; 1 of them cannot sign in"/,
    )
    await second.stop()
    assert.doesNotMatch((await production.serve()).output(), /passkeys/)
  })
})

describe('the clock', () => {
  const day = 86_400_000

  for (const [what, ageDays, warning] of [
    ['behind the latest event', -400, /"msg":"the clock is wrong, or was: the latest event is of 20/],
    ['far ahead of the latest event', 400, /"msg":"the latest event is 400 days old \(20/],
    ['near the latest event', 1, undefined],
  ] as const) {
    it(`${what}: the start ${warning === undefined ? 'says nothing' : 'warns'}`, async (t) => {
      const database = await createTestDatabase()
      t.after(() => database.drop())
      const { databaseUrl } = database
      const db = await openAppDatabase({ databaseUrl })
      const stamp = machineStamp(Date.now() - ageDays * day)
      await db.write('addRole', { role: 'Auditor', permissions: [], stamp })
      await db.close()
      const { env, remove } = await newProduction({ databaseUrl, accounts: false })
      t.after(remove)
      const server = await startServer([], env)
      t.after(() => server.stop())
      const warnings = server.output().match(/"msg":"(?:the clock|the latest event) [^"]*/g) ?? []
      assert.equal(warnings.length, warning === undefined ? 0 : 1)
      assert.match(warnings[0] ?? '', warning ?? /^$/)
    })
  }
})
