// engine: both
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from '#kysely'
import { verifyLog } from '../../proof/log.ts'
import { oldestUnsealed, saltedWith } from '../../server/audit/audit.ts'
import { findLogLines } from '../../server/audit/lines/lines.ts'
import { readConfig } from '../../server/config.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { newOrderedId } from '../../server/ids.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { newActor } from '../support/accounts.ts'
import { createTestDatabase, type TestDatabase, testEngine, withRawDatabase } from '../support/database.ts'
import { inPortions, seal } from '../support/log.ts'
import { stamp } from '../support/orders.ts'
import { connectTo } from '../support/postgres.ts'
import { setUp } from '../support/service.ts'
import { removeExpired } from '../support/upkeep.ts'

it('a text that UTF-8 cannot spell is no part of an event', () => {
  assert.throws(() => saltedWith('', { text: '\ud800' }), TypeError)
})

describe('sealEvents', () => {
  let database: TestDatabase
  const instances: AppDatabase[] = []
  const instance = (index = 0) => instances[index % instances.length] as AppDatabase

  before(async () => {
    database = await createTestDatabase()
    for (let index = 0; index < 2; index += 1) {
      instances.push(await openAppDatabase({ databaseUrl: database.databaseUrl, poolSize: 12 }))
    }
  })
  after(async () => {
    for (const db of instances) await db.close()
    await database.drop()
  })

  async function create(index = 0): Promise<string> {
    const id = newOrderedId(1_795_000_000_000)
    const order = { id, customer: 'Acme', total: 12_500 }
    await instance(index).write('createOrder', { order, stamp: stamp(), idempotency: null })
    return id
  }

  const note = (index: number, id: string) =>
    instance(index).write('addNote', {
      id,
      stamp: stamp(),
      text: 'Seen.',
      idempotency: null,
    })

  const rejecter = setUp(async () => {
    const actor = await newActor(instance())
    await seal(instance())
    return actor
  })
  const reject = (index: number, id: string) =>
    instance(index).write('rejectOrder', {
      id,
      acceptedVersions: null,
      actor: { ...rejecter, eventId: stamp().eventId },
      text: null,
      signature: null,
      idempotency: null,
    })

  const lines = async () =>
    (await findLogLines(instance().read, { after: 0, direction: 'asc', offset: 0, limit: 1_000_000 })).lines

  async function assertWhole(): Promise<number> {
    const bytes = Buffer.from((await lines()).map((line) => `${line}\n`).join(''))
    const { fault, head } = await verifyLog(inPortions(bytes))
    assert.equal(fault, null)
    return head.size
  }

  it('gives each committed event the next number once, and then has nothing to do', async () => {
    const sealed = await assertWhole()
    for (let index = 0; index < 5; index += 1) await create()
    assert.deepEqual(
      [
        await instance().write('sealEvents', { limit: 3 }),
        await instance().write('sealEvents', { limit: 3 }),
        await instance().write('sealEvents', { limit: 3 }),
      ],
      [3, 2, 0],
    )
    assert.equal(await assertWhole(), sealed + 5)
  })

  it('leaves what came later, and knows when the oldest of it was written', async () => {
    const id = await create()
    for (const nowMilliseconds of [2_000, 3_000]) {
      await instance().write('addNote', {
        id,
        stamp: stamp({ nowMilliseconds }),
        text: 'Seen.',
        idempotency: null,
      })
    }
    await instance().write('sealEvents', { limit: 1 })
    assert.equal(await oldestUnsealed(instance().read), 2_000)
    await seal(instance())
    assert.equal(await oldestUnsealed(instance().read), undefined)
  })

  it('never forks the log when two instances write and seal at once', async () => {
    const before = await assertWhole()
    const writing = Array.from({ length: 40 }, async (_, index) => {
      const id = await create(index)
      await note(index + 1, id)
      await instance(index).write('sealEvents', { limit: 7 })
    })
    const sealing = Array.from({ length: 40 }, (_, index) =>
      instance(index).write('sealEvents', { limit: 5 }),
    )
    await Promise.all([...writing, ...sealing])
    await seal(instance())
    assert.equal(await assertWhole(), before + 80)
  })

  it('keeps the events of one order in the order in which they happened, even notes added during a decision', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, (_, index) => create(index)))
    await Promise.all([
      ...ids.flatMap((id, index) => [note(index, id), reject(index + 1, id), note(index + 1, id)]),
      ...ids.map((_, index) => instance(index).write('sealEvents', { limit: 3 })),
    ])
    await seal(instance())
    const events = (await lines()).map((line) => JSON.parse(line))
    for (const id of ids) {
      const versions = events.filter(({ subject }) => subject.id === id).map(({ version }) => version)
      assert.equal(versions.length, 4)
      assert.deepEqual(versions, versions.toSorted())
    }
  })

  it('never makes writers wait: they continue while it runs, and another sealer leaves at once', {
    skip: testEngine === 'sqlite' ? 'one thread writes' : false,
  }, async () => {
    const holder = await connectTo(database.databaseUrl)
    await holder.query('begin')
    await holder.query('select * from log_head for update')
    try {
      const before = (await lines()).length
      const id = await create()
      await note(1, id)
      assert.equal(await instance(1).write('sealEvents', { limit: 10 }), 0)
      assert.equal((await lines()).length, before)
    } finally {
      await holder.query('rollback')
      await holder.end()
    }
    assert.equal(await instance().write('sealEvents', { limit: 10 }), 2)
  })

  it('gives each event exactly one number, however many callers write', async () => {
    await create()
    await seal(instance())
    const again = withRawDatabase(database.databaseUrl, (db) =>
      sql`insert into events select * from events where sequence = 1`.execute(db),
    )
    await assert.rejects(again, /unique|duplicate/i)
  })

  it('keeps everything forever: no clean-up job deletes an event', async () => {
    await create()
    await seal(instance())
    const before = await lines()
    const config = readConfig({ DATABASE_URL: database.databaseUrl }, { development: true })
    const inTenYears = 1_795_000_000_000 + 10 * 366 * 86_400_000
    await removeExpired({ db: instance(), config, now: () => inTenYears }, 1_000)
    assert.deepEqual(await lines(), before)
  })
})
