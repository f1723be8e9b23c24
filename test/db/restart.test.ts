import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { openAppDatabase } from '../../server/database.ts'
import { hashOf } from '../support/accounts.ts'
import { Client } from '../support/client.ts'
import { type RunningServer, startServer } from '../support/process.ts'

const parallelCallers = 16
const login = { email: 'operator@restart.example', password: randomBytes(12).toString('base64url') }

describe('a production server on SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-restart-'))
  const file = join(folder, 'orders.db')
  const env = {
    DATABASE_URL: `file:${file}`,
    HOST: '127.0.0.1',
    PUBLIC_URL: 'https://orders.example.com',
    SIGNING_KEY_FILES: join(folder, 'key.pem'),
    ANTIFORGERY_KEY: randomBytes(32).toString('base64'),
    RATE_LIMIT_FACTOR: '0',
    LOG_LEVEL: 'info',
  }
  after(() => rmSync(folder, { recursive: true, force: true }))
  before(async () => {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    writeFileSync(env.SIGNING_KEY_FILES, privateKey)
    const db = await openAppDatabase({ databaseUrl: env.DATABASE_URL })
    await db.write('addUser', {
      userName: 'restarter',
      email: login.email,
      passwordHash: await hashOf(login.password),
      timeZone: null,
      roles: ['Admin'],
      nowMilliseconds: Date.now() - 1_000,
    })
    await db.close()
  })

  /** What the server has acknowledged. */
  const created = new Set<string>()
  const approved = new Set<string>()

  async function signIn(server: RunningServer): Promise<Client> {
    const { body } = await new Client(server.baseUrl).post('/v1/auth/token', login)
    return new Client(server.baseUrl).withBearer(body.accessToken)
  }

  /** Creates and approves one order after the other; ends when a request is not answered. */
  async function createAndApprove(caller: Client): Promise<void> {
    for (;;) {
      const order = await caller.post('/v1/orders', { customer: 'Acme', total: 1.5 })
      assert.equal(order.status, 201)
      created.add(order.body.id)
      const approval = await caller.patch(`/v1/orders/${order.body.id}/approve`)
      assert.equal(approval.status, 204)
      approved.add(order.body.id)
    }
  }

  async function atLeast(count: number): Promise<void> {
    while (approved.size < count) await wait(5)
  }

  function assertStored(): void {
    const database = new Sqlite(file, { readonly: true })
    const rows = database.prepare('select id, status, version from orders').all() as {
      id: string
      status: number
      version: number
    }[]
    const integrity = database.pragma('integrity_check', { simple: true })
    const keys = database.pragma('foreign_key_check')
    database.close()
    assert.equal(integrity, 'ok')
    assert.deepEqual(keys, [])
    const byId = new Map(rows.map((row) => [row.id, row]))
    assert.deepEqual(
      [...created].filter((id) => !byId.has(id)),
      [],
    )
    assert.deepEqual(
      [...approved].filter((id) => byId.get(id)?.status !== 1 || byId.get(id)?.version !== 2),
      [],
    )
  }

  it('loses nothing that it acknowledged when it is killed under load, three times', async () => {
    for (const round of [1, 2, 3]) {
      const server = await startServer([], env)
      const caller = await signIn(server)
      const work = Array.from({ length: parallelCallers }, () => createAndApprove(caller))
      const settled = Promise.allSettled(work)
      await atLeast(round * 100)
      await server.stop('SIGKILL')
      for (const outcome of await settled) {
        assert.equal(outcome.status, 'rejected')
        assert.match(String(outcome.reason), /fetch failed|terminated|closed/)
      }
      assertStored()
    }
    const server = await startServer([], env)
    const caller = await signIn(server)
    const list = await caller.get('/v1/orders?filter=status%3DApproved')
    await server.stop()
    assert.ok(list.body.totalCount >= approved.size)
  })

  it('answers every request when SIGTERM ends it under load, those of the drain too, and exits with 0', async () => {
    const server = await startServer([], env)
    const caller = await signIn(server)
    const statuses: number[] = []
    const unanswered: unknown[] = []
    /** One request after the other, until the server sends the caller elsewhere. */
    async function load(): Promise<void> {
      for (let last = 0; last !== 503 && unanswered.length === 0; ) {
        await caller.post('/v1/orders', { customer: 'Acme', total: 1 }).then(
          ({ status, body }) => {
            last = status
            statuses.push(status)
            created.add(body.id ?? [...created][0])
          },
          (error: unknown) => unanswered.push(error),
        )
      }
    }
    const work = Array.from({ length: parallelCallers }, load)
    while (statuses.length < 100) await wait(5)
    const begun = performance.now()
    const status = await server.stop('SIGTERM')
    await Promise.all(work)
    assert.equal(status, 0, server.output().slice(-2_000))
    assert.ok(performance.now() - begun < 5_000)
    assert.deepEqual(unanswered, [])
    assert.deepEqual(new Set(statuses), new Set([201, 503]))
    assertStored()
  })
})
