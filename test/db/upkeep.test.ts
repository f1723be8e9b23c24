// engine: none
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { readConfig } from '../../server/config.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { removals, startUpkeep } from '../../server/upkeep.ts'

/** A database that answers what the test says, with the upkeep running on it by a clock that the test turns. */
function start(t: TestContext, defersTally: boolean, answer: (name: string) => Promise<number>) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const written: string[] = []
  const warnings: string[] = []
  const write = (name: string) => {
    written.push(name)
    return answer(name)
  }
  const db = { defersTally, write } as unknown as AppDatabase
  const checkpoints: unknown[] = []
  const log = {
    warn: (_: unknown, message: string) => warnings.push(message),
    info: (members: unknown) => checkpoints.push(members),
  } as unknown as FastifyBaseLogger
  const makeCheckpoint = async () => ({ size: 3, hash: 'hash', checkpoint: 'signed' })
  const config = readConfig({ DATABASE_URL: 'file:none' }, { development: true })
  const stop = startUpkeep({ db, clock: () => 0, config, log, makeCheckpoint })
  t.after(stop)
  const pass = async (seconds: number) => {
    for (let half = 0; half < 2 * seconds; half += 1) {
      t.mock.timers.tick(500)
      await setImmediate()
    }
  }
  const count = (name: string) => written.filter((one) => one === name).length
  return { warnings, checkpoints, stop, pass, count }
}

describe('the upkeep of a running service', () => {
  it('seals twice a second, merges changes into the tally every two seconds, cleans up once a minute', async (t) => {
    const { pass, count } = start(t, true, async () => 0)
    await pass(61)
    const counts = ['sealEvents', 'mergeTallyChanges', 'removeExpiredKeys'].map(count)
    assert.deepEqual(counts, [122, 30, 1])
  })

  it('writes a checkpoint into the log of the service at the start and once an hour', async (t) => {
    const { pass, checkpoints } = start(t, false, async () => 0)
    await setImmediate()
    assert.deepEqual(checkpoints, [{ event: 'checkpoint', size: 3, hash: 'hash', checkpoint: 'signed' }])
    await pass(3_599)
    assert.equal(checkpoints.length, 1)
    await pass(1)
    assert.equal(checkpoints.length, 2)
  })

  it('folds nothing where writes leave nothing to fold', async (t) => {
    const { pass, count } = start(t, false, async () => 0)
    await pass(61)
    assert.deepEqual([count('mergeTallyChanges'), count('removeExpiredKeys')], [0, 1])
  })

  it('goes on at once as long as batches are full', async (t) => {
    let left = 5
    const { pass, count } = start(t, true, async (name) =>
      name === 'mergeTallyChanges' && left-- > 0 ? 2_000 : 3,
    )
    await pass(2)
    assert.equal(count('mergeTallyChanges'), 6)
  })

  it('cleans up to the end, in portions with pauses in which others write', async (t) => {
    const portion = removals.removeExpiredKeys
    const moments: number[] = []
    const done = Promise.withResolvers<void>()
    const { pass } = start(t, false, async (name) => {
      if (name !== 'removeExpiredKeys') return 0
      moments.push(performance.now())
      if (moments.length < 5) return portion
      done.resolve()
      return portion - 1
    })
    await pass(60)
    assert.equal(moments.length, 1)
    await done.promise
    await pass(30)
    assert.equal(moments.length, 5)
    for (const [index, moment] of moments.slice(1).entries()) assert.ok(moment - (moments[index] ?? 0) >= 15)
  })

  it('does not begin again before it has ended', async (t) => {
    const first = Promise.withResolvers<number>()
    const { pass, count } = start(t, true, () => first.promise)
    await pass(20)
    assert.equal(count('mergeTallyChanges'), 1)
    first.resolve(0)
    await pass(4)
    assert.equal(count('mergeTallyChanges'), 3)
  })

  it('tells the first of failures that follow each other, and goes on', async (t) => {
    let fails = true
    const { pass, count, warnings } = start(t, true, async (name) => {
      if (fails && name === 'mergeTallyChanges') throw new Error('gone')
      return 0
    })
    await pass(10)
    assert.equal(warnings.length, 1)
    assert.match(warnings[0] ?? '', /^the tally of orders could not be brought up to date/)
    fails = false
    await pass(2)
    fails = true
    await pass(4)
    assert.deepEqual([warnings.length, count('mergeTallyChanges')], [2, 8])
  })

  it('ends when it is told to, in the middle of its batches, and without a word', async (t) => {
    const first = Promise.withResolvers<number>()
    const { pass, count, stop, warnings } = start(t, true, () => first.promise)
    await pass(2)
    stop()
    first.resolve(2_000)
    await pass(120)
    assert.deepEqual([count('mergeTallyChanges'), count('removeExpiredKeys'), warnings], [1, 0, []])
  })
})
