// engine: both
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type RawBuilder, sql } from '#kysely'
import { openAppDatabase } from '../../server/operations.ts'
import { createTestDatabase, type TestDatabase, withRawDatabase } from '../support/database.ts'
import { openTestPort, type TestPort } from '../support/test-port.ts'

describe('a lease', () => {
  let database: TestDatabase
  let port: TestPort
  before(async () => {
    database = await createTestDatabase()
    port = await openTestPort(database.databaseUrl)
  })
  after(async () => {
    await port.close()
    await database.drop()
  })

  let calls = 0
  /** Lasts a minute by default. */
  const hold = (name: string, term: number | null, milliseconds = 60_000) =>
    port.write('addHolding', { name: `call ${++calls}`, lease: { name, term, milliseconds } })
  const end = () =>
    withRawDatabase(database.databaseUrl, (db) => sql`update leases set ends_at = 0`.execute(db))

  it('has one holder until its term ends, and then the next one', async () => {
    assert.equal(await hold('next', null, 200), 1)
    await wait(300)
    assert.equal(await hold('next', null), 2)
    assert.equal(await hold('next', null), null)
  })

  it('continues when its holder extends the term', async () => {
    assert.equal(await hold('extended', null, 200), 1)
    assert.equal(await hold('extended', 1), 1)
    await wait(300)
    assert.equal(await hold('extended', null), null)
  })

  it('still belongs to its holder after the term, if nobody has taken over', async () => {
    assert.equal(await hold('late', null), 1)
    await end()
    assert.equal(await hold('late', 1), 1)
    assert.equal(await hold('late', null), null)
  })

  it('never returns to a term that is over', async () => {
    assert.equal(await hold('over', null), 1)
    await end()
    assert.equal(await hold('over', null), 2)
    assert.equal(await hold('over', 1), null)
    await end()
    assert.equal(await hold('over', 1), null)
  })

  it('lasts one term from now at most once a clock that was ahead is set right', async () => {
    const raw = <T>(statement: RawBuilder<T>) =>
      withRawDatabase(database.databaseUrl, (db) => statement.execute(db))
    await hold('ahead', null)
    for (const left of [100_000, 180_000]) {
      const most = left === 180_000 ? 60_000 : left
      await raw(sql`update leases set ends_at = ${Date.now() + left}`)
      assert.equal(await hold('ahead', null), null)
      const { rows } = await raw(sql<{ ends_at: number }>`select ends_at from leases where name = 'ahead'`)
      const now = Number(rows[0]?.ends_at) - Date.now()
      assert.ok(now <= most && now > most - 10_000, `${now}`)
    }
  })

  it('is given to one of many who ask at once', async () => {
    for (const expected of [1, 2]) {
      const terms = await Promise.all(Array.from({ length: 10 }, () => hold('asked', null)))
      assert.deepEqual(
        terms.filter((term) => term !== null),
        [expected],
      )
      await end()
    }
  })

  it('stays as it was when its transaction fails', async () => {
    const failing = { name: 'Admin', lease: { name: 'failed', term: null, milliseconds: 60_000 } }
    await assert.rejects(port.write('addHolding', failing), /unique/i)
    assert.equal(await hold('failed', null), 1)
  })

  it('lets only one of two instances do a job', async (t) => {
    const one = await openAppDatabase(database)
    t.after(() => one.close())
    const other = await openAppDatabase(database)
    t.after(() => other.close())
    const batch = { name: 'removeExpiredKeys', beforeMilliseconds: 0, limit: 1 }
    assert.deepEqual(await one.write('runJob', { ...batch, term: null }), { done: 0, term: 1 })
    assert.deepEqual(await other.write('runJob', { ...batch, term: null }), { done: 0, term: null })
    assert.deepEqual(await one.write('runJob', { ...batch, term: 1 }), { done: 0, term: 1 })
    await end()
    assert.deepEqual(await other.write('runJob', { ...batch, term: null }), { done: 0, term: 2 })
    assert.deepEqual(await one.write('runJob', { ...batch, term: 1 }), { done: 0, term: null })
  })
})
