// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { withRawDatabase } from '../support/database.ts'
import { assertWholeTree, storedEvents } from '../support/kept-log.ts'
import { addWaitingEvents, seal } from '../support/log.ts'
import { logDatabase } from '../support/log-instance.ts'
import { stamp } from '../support/orders.ts'

describe('beginEra', () => {
  it('adds one event right behind the last line, before those that wait, and names that line', async (t) => {
    const { db, databaseUrl } = await logDatabase(t, 3)
    await addWaitingEvents({ databaseUrl }, 2)
    const begun = await db.write('beginEra', { atLeast: 1, stamp: stamp() })
    const [, , third, fourth, ...waiting] = await withRawDatabase(databaseUrl, storedEvents)
    assert.deepEqual(begun, { era: 2, last: { sequence: 3, hash: third?.hash } })
    assert.partialDeepStrictEqual(fourth, {
      kind: 'log-restored',
      subject_kind: 'log',
      subject_id: '3',
      sequence: 4,
      data: JSON.stringify({ era: 2, last: { hash: third?.hash, sequence: 3 } }),
    })
    assert.deepEqual(
      waiting.map(({ sequence }) => sequence),
      [null, null],
    )
    await seal(db)
    await withRawDatabase(databaseUrl, assertWholeTree)
  })

  it('counts on from one era to the next, unless a later one is asked for', async (t) => {
    const { db } = await logDatabase(t)
    const eras: number[] = []
    for (const atLeast of [1, 3, 5, 5, 2]) {
      eras.push((await db.write('beginEra', { atLeast, stamp: stamp() })).era)
    }
    assert.deepEqual(eras, [2, 3, 5, 6, 7])
  })

  it('says so if no line is left', async (t) => {
    const { db } = await logDatabase(t)
    const { last } = await db.write('beginEra', { atLeast: 1, stamp: stamp() })
    assert.deepEqual(last, { sequence: 0, hash: null })
  })

  it('waits for sealers and loses no event, however many work at once', async (t) => {
    const { db, databaseUrl } = await logDatabase(t)
    await addWaitingEvents({ databaseUrl }, 1_000)
    const sealing = Array.from({ length: 20 }, () => db.write('sealEvents', { limit: 40 }))
    const beginning = Array.from({ length: 5 }, () => db.write('beginEra', { atLeast: 1, stamp: stamp() }))
    const begun = await Promise.all(beginning)
    await Promise.all(sealing)
    await seal(db)
    const events = await withRawDatabase(databaseUrl, storedEvents)
    assert.equal(events.length, 1_005)
    for (const { era, last } of begun) {
      const event = events.find(({ data }) => JSON.parse(data).era === era)
      assert.equal(event?.sequence, last.sequence + 1)
    }
    await withRawDatabase(databaseUrl, assertWholeTree)
  })
})
