// engine: none
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { readConfig } from '../../server/config.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { jobs } from '../../server/operations.ts'
import { repeat, startUpkeep } from '../../server/upkeep.ts'

/** Upkeep on a fake database that answers as the test says, with a clock that the test moves. */
function start(t: TestContext, defersTally: boolean, answer: (name: string) => Promise<number>) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const written: { name: string; term: number | null }[] = []
  const said: string[] = []
  const write = async (_: string, { name, term }: { name: string; term: number | null }) => {
    written.push({ name, term })
    return { done: await answer(name), term: written.length }
  }
  const db = { defersTally, write } as unknown as AppDatabase
  const say = (_: unknown, message = '') => void said.push(message)
  const log = { info: say, warn: say }
  const config = readConfig({ DATABASE_URL: 'file:none' }, { development: true })
  const stops = startUpkeep({ db, jobs, clock: () => 0, config, log })
  const stop = () => stops.forEach((each) => void each())
  t.after(stop)
  const pass = async (seconds: number) => {
    for (let half = 0; half < 2 * seconds; half += 1) {
      t.mock.timers.tick(500)
      await setImmediate()
    }
  }
  const count = (name: string) => written.filter((one) => one.name === name).length
  return { said, written, stop, pass, count }
}

describe('the upkeep of a running service', () => {
  it('seals twice a second, merges changes into the tally every two seconds, cleans up once a minute', async (t) => {
    const { pass, count } = start(t, true, async () => 0)
    await pass(61)
    const counts = ['sealEvents', 'mergeTallyChanges', 'removeExpiredKeys'].map(count)
    assert.deepEqual(counts, [122, 30, 1])
  })

  it('runs a task at the start if asked to, and then at intervals', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    let runs = 0
    const run = async () => {
      runs += 1
    }
    const task = { everyMilliseconds: 3_600_000, isDoneAtStart: true, run, failure: '' }
    t.after(repeat(task, { info: () => undefined, warn: () => undefined }))
    assert.equal(runs, 1)
    await setImmediate()
    t.mock.timers.tick(3_599_999)
    assert.equal(runs, 1)
    t.mock.timers.tick(1)
    assert.equal(runs, 2)
  })

  it('merges nothing if there is nothing to merge', async (t) => {
    const { pass, count } = start(t, false, async () => 0)
    await pass(61)
    assert.deepEqual([count('mergeTallyChanges'), count('removeExpiredKeys')], [0, 1])
  })

  it('passes the term of the lease on to the next batch', async (t) => {
    const { pass, written } = start(t, false, async () => 0)
    await pass(121)
    const keys = written.filter(({ name }) => name === 'removeExpiredKeys')
    const first = written.findIndex(({ name }) => name === 'removeExpiredKeys') + 1
    assert.deepEqual(
      keys.map(({ term }) => term),
      [null, first],
    )
  })

  it('continues without a pause while batches are full', async (t) => {
    let left = 5
    const { pass, count } = start(t, true, async (name) =>
      name === 'mergeTallyChanges' && left-- > 0 ? 2_000 : 3,
    )
    await pass(2)
    assert.equal(count('mergeTallyChanges'), 6)
  })

  it('cleans up everything, in batches with pauses for other writes', async (t) => {
    const batch = jobs.find(({ name }) => name === 'removeExpiredKeys')?.batch ?? 0
    const moments: number[] = []
    const done = Promise.withResolvers<void>()
    const { pass } = start(t, false, async (name) => {
      if (name !== 'removeExpiredKeys') return 0
      moments.push(performance.now())
      if (moments.length < 5) return batch
      done.resolve()
      return batch - 1
    })
    await pass(60)
    assert.equal(moments.length, 1)
    await done.promise
    await pass(30)
    assert.equal(moments.length, 5)
    for (const [index, moment] of moments.slice(1).entries()) assert.ok(moment - (moments[index] ?? 0) >= 15)
  })

  it('does not start a job again before it has ended', async (t) => {
    const first = Promise.withResolvers<number>()
    const { pass, count } = start(t, true, () => first.promise)
    await pass(20)
    assert.equal(count('mergeTallyChanges'), 1)
    first.resolve(0)
    await pass(4)
    assert.equal(count('mergeTallyChanges'), 3)
  })

  it('logs the first of several failures in a row, continues, and logs that it works again', async (t) => {
    let fails = true
    const { pass, count, said } = start(t, true, async (name) => {
      if (fails && name === 'mergeTallyChanges') throw new Error('gone')
      return 0
    })
    await pass(10)
    assert.equal(said.length, 1)
    assert.match(said[0] ?? '', /^the tally of orders could not be brought up to date/)
    fails = false
    await pass(2)
    fails = true
    await pass(4)
    assert.deepEqual([said.slice(1), count('mergeTallyChanges')], [['it works again', said[0]], 8])
  })

  it('stops between two batches, and logs nothing', async (t) => {
    const first = Promise.withResolvers<number>()
    const { pass, count, stop, said } = start(t, true, () => first.promise)
    await pass(2)
    stop()
    first.resolve(2_000)
    await pass(120)
    assert.deepEqual([count('mergeTallyChanges'), count('removeExpiredKeys'), said], [1, 0, []])
  })
})
