import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, Client } from '../support/client.ts'
import { testEngine, withRawDatabase } from '../support/database.ts'
import { failCalls, limitFiles, type Mend, withoutLimits, withoutStrace } from '../support/disk.ts'
import { faultSeed, isLong, randomOf } from '../support/faults.ts'
import { assertSound } from '../support/history.ts'
import { assertProblem } from '../support/problem.ts'
import { type RunningServer, startServer } from '../support/process.ts'
import {
  bearerOf,
  credentialsOf,
  type Production,
  prepareProduction,
  sessionOf,
} from '../support/production.ts'

const rounds = isLong ? 20 : 2
const writers = 8
const recoversWithinMilliseconds = 10_000

describe('the disk under SQLite', { skip: testEngine !== 'sqlite' && 'PostgreSQL has its own' }, () => {
  const top = mkdtempSync(join(tmpdir(), 'countersign-disk-'))
  const folder = join(top, 'data')
  const away = join(top, 'away')
  const file = join(folder, 'orders.db')
  const databaseUrl = `file:${file}`
  const random = randomOf('sqlite-disk')
  let production: Production
  let server: RunningServer
  let bearer: Client
  let session: Client
  let orderId: string
  const acknowledged: string[] = []
  before(async () => {
    mkdirSync(folder)
    production = await prepareProduction(databaseUrl)
    server = await startServer([], production.env)
    bearer = await bearerOf(server.baseUrl, 'admin')
    session = await sessionOf(server.baseUrl, 'operator')
    orderId = (await create()).body.id
  })
  after(async () => {
    await server?.stop()
    await production?.remove()
    rmSync(top, { recursive: true, force: true })
  })

  let mend: Mend = async () => undefined
  afterEach(async () => {
    await mend()
    mend = async () => undefined
  })

  const pid = () => server.process.pid ?? 0
  const anyone = () => new Client(server.baseUrl)

  async function create(): Promise<Answer> {
    const answer = await bearer.post('/v1/orders', { customer: `disk ${randomUUID()}`, total: 1 })
    if (answer.status === 201) acknowledged.push(answer.body.id)
    return answer
  }

  /** Every kind of write is this 503, and every kind of read is answered as ever. */
  async function assertReadsOnly(): Promise<void> {
    for (const answer of await Promise.all([
      create(),
      bearer.patch(`/v1/orders/${orderId}/approve`),
      session.post('/v1/orders', { customer: 'by session', total: 1 }),
      session.post('/v1/auth/session/refresh'),
      anyone().post('/v1/auth/session', credentialsOf('operator')),
      anyone().post('/v1/auth/token', credentialsOf('operator')),
    ])) {
      assertProblem(answer, 503, 'database-unavailable')
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d?$/)
      assert.deepEqual(answer.setCookies, [])
    }
    const reads = await Promise.all([
      bearer.get(`/v1/orders/${orderId}`),
      bearer.get('/v1/orders?filter=disk'),
      bearer.get('/v1/orders/summary?days=1'),
      session.get('/v1/auth/me'),
      anyone().get('/health'),
    ])
    assert.deepEqual(
      reads.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    )
  }

  /** Writers during all of `fault`, from before it to after it: each answer is 201 or 503. */
  async function underLoad(fault: () => Promise<void>): Promise<void> {
    let isOver = false
    const answers: Answer[] = []
    const work = Array.from({ length: writers }, async () => {
      while (!isOver) answers.push(await create())
    })
    await wait(20 + 200 * random())
    await fault().finally(() => {
      isOver = true
    })
    await Promise.all(work)
    const statuses = answers.map(({ status }) => status)
    assert.deepEqual(new Set(statuses), new Set([201, 503]))
    for (const answer of answers.filter(({ status }) => status === 503)) {
      assertProblem(answer, 503, 'database-unavailable')
    }
  }

  /** The same process writes again; what it acknowledged is there, and nothing else; the file is whole. */
  async function assertRecovered(): Promise<void> {
    const deadline = performance.now() + recoversWithinMilliseconds
    while ((await create()).status !== 201) {
      assert.ok(performance.now() < deadline, 'no write within 10 s')
      await wait(20)
    }
    assert.equal((await anyone().get('/health/ready')).status, 200)
    assert.equal(server.process.exitCode, null)
    assert.doesNotMatch(server.output(), /internal-error|unexpected error/)
    await withRawDatabase(databaseUrl, async (db) => {
      await assertSound(db)
      const rows = await db.selectFrom('orders').select('id').orderBy('id').execute()
      assert.deepEqual(
        rows.map(({ id }) => id),
        acknowledged.toSorted(),
      )
    })
  }

  it(`allows no file to grow, ${rounds} times under load: 503 while it lasts, reads go on, all is well after`, {
    skip: withoutLimits,
  }, async (t) => {
    for (let round = 0; round < rounds; round += 1) {
      await underLoad(async () => {
        const room = Math.round(random() * 50_000)
        mend = await limitFiles(pid(), statSync(`${file}-wal`).size + room)
        // A log that began anew has room for many.
        for (let tries = 0; tries < 300 && (await create()).status === 201; tries += 1);
        await limitFiles(pid(), 0)
        await assertReadsOnly()
        await mend()
      })
      await assertRecovered()
    }
    t.diagnostic(`seed ${faultSeed}: ${acknowledged.length} acknowledged writes, none lost`)
  })

  for (const [what, calls, error] of [
    ['is full', 'pwrite64', 'ENOSPC'],
    ['becomes read-only', 'pwrite64', 'EROFS'],
    ['fails to write', 'pwrite64', 'EIO'],
    ['fails to flush', 'fsync,fdatasync', 'EIO'],
  ] as const) {
    it(`${what}, under load: 503 while it lasts, reads go on, all is well after`, {
      skip: withoutStrace,
    }, async () => {
      for (let round = 0; round < rounds; round += 1) {
        await underLoad(async () => {
          mend = await failCalls(pid(), calls, error)
          await assertReadsOnly()
          await mend()
          mend = async () => undefined
        })
        await assertRecovered()
      }
    })
  }

  it('loses its folder: not ready and no write is acknowledged until it is back', async () => {
    await underLoad(async () => {
      renameSync(folder, away)
      mend = async () => renameSync(away, folder)
      assertProblem(await anyone().get('/health/ready'), 503, 'database-unavailable')
      await assertReadsOnly()
      await mend()
      mend = async () => undefined
    })
    await assertRecovered()
  })

  it('has another file in the place of the database: no write is acknowledged that the file would not hold', async () => {
    await underLoad(async () => {
      renameSync(folder, away)
      mkdirSync(folder)
      copyFileSync(join(away, 'orders.db'), file)
      mend = async () => {
        rmSync(folder, { recursive: true })
        renameSync(away, folder)
      }
      assertProblem(await anyone().get('/health/ready'), 503, 'database-unavailable')
      await assertReadsOnly()
      await mend()
      mend = async () => undefined
    })
    await assertRecovered()
  })
})
