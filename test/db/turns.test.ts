// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DatabaseUnavailable, TooManyWaiting } from '../../server/db/errors.ts'
import { HalvedTurns, type TurnLimits, Turns } from '../../server/db/fair-queue.ts'

/** Turns of work that runs until it is ended, and a record of what has begun. */
function makeTurns(limits: Partial<TurnLimits>) {
  const turns = new Turns({ atOnce: 2, waiting: 100, waitingOfCaller: 100, ...limits })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const ask = (name: string) =>
    turns.run(name.slice(0, 1), () => {
      begun.push(name)
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
    })
  return { turns, begun, ask, end: (name: string) => ends.get(name)?.() }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('turns', () => {
  it('run a limited amount of work at a time, one caller after another', async () => {
    const { begun, ask, end } = makeTurns({})
    const asked = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map(ask)
    assert.deepEqual(begun, ['a1', 'a2'])
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2']) {
      end(name)
      await turn()
    }
    assert.deepEqual(begun, ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2'])
    assert.deepEqual(await Promise.all(asked), ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'])
  })

  it('keep room for other callers', async () => {
    const { begun, ask, end } = makeTurns({ atOnceOfCaller: 1 })
    for (const name of ['a1', 'a2', 'b1', 'b2']) void ask(name)
    assert.deepEqual(begun, ['a1', 'b1'])
    end('b1')
    await turn()
    assert.deepEqual(begun, ['a1', 'b1', 'b2'])
    end('a1')
    await turn()
    assert.deepEqual(begun, ['a1', 'b1', 'b2', 'a2'])
  })

  it('leave half the room to work that is not long', async () => {
    const turns = new HalvedTurns({ atOnce: 7, waiting: 100 })
    const begun: string[] = []
    const ask = (name: string, isLong: boolean) =>
      void turns.run(name, isLong, () => {
        begun.push(name)
        return new Promise(() => undefined)
      })
    for (const name of ['a', 'b', 'c', 'd']) ask(name, true)
    for (const name of ['e', 'f', 'g', 'h', 'i']) ask(name, false)
    await turn()
    assert.deepEqual(begun, ['a', 'b', 'c', 'e', 'f', 'g', 'h'])
    assert.deepEqual(turns.load, { running: 7, waiting: 2 })
  })

  it('refuse work beyond the limit of a caller, or of all', async () => {
    const { ask } = makeTurns({ atOnce: 1, waiting: 3, waitingOfCaller: 2 })
    for (const name of ['a1', 'a2', 'a3']) void ask(name)
    await assert.rejects(ask('a4'), TooManyWaiting)
    void ask('b1')
    await assert.rejects(ask('c1'), TooManyWaiting)
  })

  it('refuse only work that has waited too long', async () => {
    const { begun, ask, end } = makeTurns({ atOnce: 1, waiting: 2, patienceMilliseconds: 30 })
    const first = ask('a1')
    const second = ask('a2')
    const third = ask('b1')
    await assert.rejects(second, TooManyWaiting)
    await assert.rejects(third, TooManyWaiting)
    const fourth = ask('a3')
    end('a1')
    assert.equal(await first, 'a1')
    await turn()
    // It has begun, so its patience no longer matters.
    await new Promise((resolve) => setTimeout(resolve, 60))
    end('a3')
    assert.equal(await fourth, 'a3')
    assert.deepEqual(begun, ['a1', 'a3'])
  })

  it('continue after work that fails', async () => {
    const { turns, ask, end } = makeTurns({ atOnce: 1 })
    const failing = turns.run('a', () => Promise.reject(new Error('as it is')))
    const next = ask('a2')
    await assert.rejects(failing, /as it is/)
    end('a2')
    assert.equal(await next, 'a2')
  })

  it('refuse waiting work once closed, and let work that has begun finish', async () => {
    const { turns, ask, end } = makeTurns({ atOnce: 1, patienceMilliseconds: 60_000 })
    const first = ask('a1')
    const second = ask('a2')
    turns.close()
    await assert.rejects(second, DatabaseUnavailable)
    await assert.rejects(ask('a3'), DatabaseUnavailable)
    end('a1')
    assert.equal(await first, 'a1')
  })
})
