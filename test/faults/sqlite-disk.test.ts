import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { catalogue } from '../../server/problems/catalogue.ts'
import { testEngine } from '../support/database.ts'
import { failCalls, limitFiles, withoutLimits, withoutStrace } from '../support/disk.ts'
import { faultSeed, isLong, randomOf } from '../support/faults.ts'
import { assertProblem } from '../support/problem.ts'
import { newProduction, type Production } from '../support/production.ts'
import { until } from '../support/stream.ts'
import { NoWrites } from './no-writes.ts'

const rounds = isLong ? 20 : 2

describe('the disk under SQLite', { skip: testEngine !== 'sqlite' && 'PostgreSQL has its own' }, () => {
  const top = mkdtempSync(join(tmpdir(), 'countersign-disk-'))
  const folder = join(top, 'data')
  const away = join(top, 'away')
  const file = join(folder, 'orders.db')
  const random = randomOf('sqlite-disk')
  let production: Production
  let service: NoWrites
  before(async () => {
    mkdirSync(folder)
    production = await newProduction({ databaseUrl: `file:${file}` })
    service = await NoWrites.serve(production)
  })
  after(async () => {
    await production?.remove()
    rmSync(top, { recursive: true, force: true })
  })

  afterEach(() => service.mended())

  const pid = () => service.server.process.pid ?? 0

  const assertOutlives = (fault: () => Promise<unknown>, detail?: string, warning?: string) => {
    const pauseMilliseconds = 20 + 200 * random()
    return service.assertOutlives(fault, { pauseMilliseconds, detail, warning, refusal: warning })
  }

  async function assertNotReady(): Promise<void> {
    assertProblem(await service.anyone().get('/health/ready'), 503, 'database-unavailable')
  }

  it(`lets no file grow, ${rounds} times under load: writes answer 503 and reads continue, then writes work again`, {
    skip: withoutLimits,
  }, async (t) => {
    for (let round = 0; round < rounds; round += 1) {
      await assertOutlives(async () => {
        const room = Math.round(random() * 50_000)
        service.mend = await limitFiles(pid(), statSync(`${file}-wal`).size + room)
        // A write-ahead log that has started over has room for many writes.
        for (let tries = 0; tries < 300 && (await service.create()).status === 201; tries += 1);
        await limitFiles(pid(), 0)
      })
    }
    t.diagnostic(`seed ${faultSeed}: ${service.acknowledged.length} acknowledged writes, none lost`)
  })

  const repeat = catalogue['database-unavailable'].remedy
  for (const [what, calls, error, detail, warning] of [
    ['is full', 'pwrite64', 'ENOSPC', 'The database takes no changes: its disk is full.', 'full'],
    ['becomes read-only', 'pwrite64', 'EROFS', repeat],
    ['fails to write', 'pwrite64', 'EIO', repeat],
    ['fails to flush', 'fsync,fdatasync', 'EIO', repeat],
  ] as const) {
    it(`${what}, under load: writes answer 503 and reads continue, then writes work again`, {
      skip: withoutStrace,
    }, async () => {
      for (let round = 0; round < rounds; round += 1) {
        await assertOutlives(
          async () => {
            service.mend = await failCalls(pid(), calls, error)
          },
          detail,
          warning,
        )
      }
    })
  }

  it('is full while nobody writes: the probe says so by itself, and when there is room again', {
    skip: withoutStrace,
  }, async () => {
    const warnings = async () => (await service.anyone().get('/health/ready')).body.warnings
    assert.equal(await warnings(), undefined)
    const before = service.lines().length
    service.mend = await failCalls(pid(), 'pwrite64', 'ENOSPC')
    await until(async () => (await warnings())?.[0] === 'full')
    await service.mended()
    await until(async () => (await warnings()) === undefined)
    const since = () => service.lines().slice(before)
    const told = () => since().filter(({ event }) => event === 'database-refuses')
    await until(() => told().length > 1)
    assert.deepEqual(
      told().map(({ refusal }) => refusal),
      ['full', undefined],
    )
  })

  it('loses its folder: not ready, and no write acknowledged until it is back', () =>
    assertOutlives(async () => {
      renameSync(folder, away)
      service.mend = async () => renameSync(away, folder)
      await assertNotReady()
    }))

  it('has another file in place of the database: no write is acknowledged and then missing from the file', () =>
    assertOutlives(async () => {
      renameSync(folder, away)
      mkdirSync(folder)
      copyFileSync(join(away, 'orders.db'), file)
      service.mend = async () => {
        rmSync(folder, { recursive: true })
        renameSync(away, folder)
      }
      await assertNotReady()
    }))
})
