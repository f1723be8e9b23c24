// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { OneAtATime } from '../../server/auth/credentials/passwords/one-at-a-time.ts'
import { DatabaseUnavailable, TooManyWaiting } from '../../server/db/errors.ts'

/** Work that ends when the test says so. */
function work(began: string[], name: string) {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const run = () => {
    began.push(name)
    return promise
  }
  return { run, end: resolve, fail: reject }
}

const turns = async () => {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
}

describe('work with one key', () => {
  it('runs one after the other, also work that comes when some has ended and some waits', async () => {
    const all = new OneAtATime(3)
    const began: string[] = []
    const [first, second, third] = [work(began, 'first'), work(began, 'second'), work(began, 'third')]
    const running = [all.run('key', first.run), all.run('key', second.run)]
    await turns()
    assert.deepEqual(began, ['first'])
    first.end()
    await running[0]
    running.push(all.run('key', third.run))
    await turns()
    assert.deepEqual(began, ['first', 'second'])
    second.end()
    third.end()
    await Promise.all(running)
    assert.deepEqual(began, ['first', 'second', 'third'])
  })

  it('goes on after work that fails, and does not wait for work with another key', async () => {
    const all = new OneAtATime(3)
    const began: string[] = []
    const [first, second, other] = [work(began, 'first'), work(began, 'second'), work(began, 'other')]
    const failing = all.run('key', first.run)
    const running = [all.run('key', second.run), all.run('another key', other.run)]
    await turns()
    assert.deepEqual(began, ['first', 'other'])
    first.fail(new Error('failed'))
    await assert.rejects(failing, { message: 'failed' })
    second.end()
    other.end()
    await Promise.all(running)
  })

  it('does not begin after work that found the database unavailable', async () => {
    const all = new OneAtATime(3)
    const began: string[] = []
    const [first, second] = [work(began, 'first'), work(began, 'second')]
    const running = [first, second].map((each) => all.run('key', each.run))
    first.fail(new DatabaseUnavailable('gone'))
    second.end()
    await Promise.all(running.map((each) => assert.rejects(each, DatabaseUnavailable)))
    assert.deepEqual(began, ['first'])
  })

  it('is refused beyond the limit, until work has ended', async () => {
    const all = new OneAtATime(2)
    const [first, second] = [work([], 'first'), work([], 'second')]
    const running = [all.run('key', first.run), all.run('key', second.run)]
    await assert.rejects(
      all.run('key', async () => undefined),
      TooManyWaiting,
    )
    first.end()
    await running[0]
    const third = all.run('key', async () => 'third')
    second.end()
    assert.equal(await third, 'third')
  })

  it('keeps no place that failed', async () => {
    const all = new OneAtATime(1)
    for (const _ of ['once', 'again']) {
      await assert.rejects(
        all.run('key', () => Promise.reject(new Error('failed'))),
        { message: 'failed' },
      )
    }
  })
})
