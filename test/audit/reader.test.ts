import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Place } from '../../proof/place.ts'
import { readOn } from '../../server/audit/audit.ts'
import { logDatabase } from '../support/log-instance.ts'
import { stamp } from '../support/orders.ts'

/** A log of as many lines, and what a reader gets from a place on. */
async function logOf(t: TestContext, lines: number) {
  const { db } = await logDatabase(t, lines)
  const read = async (place: Place) => {
    // Reads of one turn of the event loop share a snapshot.
    await setImmediate()
    return readOn(db.read, place)
  }
  return { read, restore: (atLeast = 1) => db.write('beginEra', { atLeast, stamp: stamp() }) }
}

describe('a reader of the log', () => {
  it('gets every line once, in order, some at a time', async (t) => {
    const { read } = await logOf(t, 250)
    let place = { era: 1, sequence: 3 }
    const sequences: number[] = []
    for (let reads = 0; reads < 3; reads += 1) {
      const { from, events, reached, end } = await read(place)
      assert.deepEqual([from, end], [place, { era: 1, sequence: 250 }])
      sequences.push(...events.map(({ sequence }) => sequence))
      place = reached
    }
    assert.deepEqual(
      sequences,
      Array.from({ length: 247 }, (_, index) => index + 4),
    )
    const nothing = { from: place, events: [], lastLeft: 250, reached: place, end: place }
    assert.deepEqual(await read(place), nothing)
  })

  it('gets nothing from an empty log', async (t) => {
    const { read } = await logOf(t, 0)
    const place = { era: 1, sequence: 0 }
    const nothing = { from: place, events: [], lastLeft: 0, reached: place, end: place }
    assert.deepEqual(await read(place), nothing)
  })

  it('goes on after a restore from the last line that was left, if it had come further', async (t) => {
    const { read, restore } = await logOf(t, 3)
    await restore()
    await restore(4)
    const goesOnFrom = async (place: Place) => {
      const { from, events } = await read(place)
      assert.equal(from.era, 4)
      return [from.sequence, ...events.map(({ sequence }) => sequence)]
    }
    assert.deepEqual(await goesOnFrom({ era: 1, sequence: 2 }), [2, 3, 4, 5])
    assert.deepEqual(await goesOnFrom({ era: 1, sequence: 9 }), [3, 4, 5])
    assert.deepEqual(await goesOnFrom({ era: 2, sequence: 9 }), [4, 5])
    assert.deepEqual(await goesOnFrom({ era: 3, sequence: 9 }), [4, 5])
    assert.deepEqual(await goesOnFrom({ era: 4, sequence: 9 }), [5])
    assert.deepEqual(await goesOnFrom({ era: 9, sequence: 2 }), [2, 3, 4, 5])
  })
})
