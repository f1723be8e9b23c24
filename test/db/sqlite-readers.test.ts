import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { DatabaseUnavailable, QueryTooSlow, TooManyWaiting } from '../../server/db/errors.ts'
import { Problem } from '../../server/problems/problems.ts'
import { testOperations } from '../support/test-operations.ts'
import { openTestPort, type TestPort } from '../support/test-port.ts'

describe('the SQLite readers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-readers-'))
  let files = 0
  let port: TestPort
  const open = () => openTestPort(`file:${join(folder, `${++files}.db`)}`)
  before(async () => {
    port = await open()
  })
  after(async () => {
    await port.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const within = (limitMilliseconds: number, caller = 'ada') => ({ limitMilliseconds, caller })
  const count = (caller?: string) => port.query('countTwice', null, within(2_000, caller))

  it('stop a query that runs too long, and then serve others', async () => {
    for (const limit of [10, 200]) {
      const begun = performance.now()
      await assert.rejects(port.query('endless', null, within(limit)), QueryTooSlow)
      assert.ok(performance.now() - begun < 20_000)
    }
    assert.deepEqual(await count(), [3, 3])
  })

  it('limit the time of all queries of an operation together', async () => {
    await assert.rejects(port.query('stubborn', null, within(100)), QueryTooSlow)
  })

  it('report what an operation threw', async () => {
    const refusal = await port.query('refuse', null, within(1_000)).catch((error: unknown) => error)
    assert.ok(refusal instanceof Problem)
    assert.deepEqual([refusal.code, refusal.members], ['order-not-pending', { currentStatus: 1 }])
    await assert.rejects(port.query('fail', { message: 'as it is' }, within(1_000)), /^Error: as it is$/)
  })

  it('see everything acknowledged before they begin, in one snapshot', async () => {
    await port.write('add', { name: 'seen' })
    const counts = await count()
    assert.equal(counts[0], counts[1])
    assert.equal(counts[0], await testOperations.count(port.read, null))
  })

  it('serve other callers while the lists of one run, without blocking the event loop', async () => {
    // Starts both threads.
    await Promise.all([count('ada'), count('bob')])
    let isOver = false
    const long = port.query('lasting', null, within(1_000, 'mallory')).catch(() => {
      isOver = true
    })
    const next = port.query('lasting', null, within(1_000, 'mallory')).catch(() => undefined)
    for (let time = 0; time < 3; time += 1) await count()
    assert.equal(isOver, false)
    await long
    await next
  })

  it('keep one reader free while the long reads of two callers run', async () => {
    await Promise.all([count('ada'), count('bob')])
    let isOver = false
    const long = ['mallory', 'mike'].map((caller) =>
      port.query('lasting', null, { ...within(1_000, caller), isLong: true }).catch(() => {
        isOver = true
      }),
    )
    for (let time = 0; time < 3; time += 1) await count()
    assert.equal(isOver, false)
    await Promise.all(long)
  })

  it('let callers take turns', async () => {
    const order: string[] = []
    const long = (caller: string) =>
      port.query('lasting', null, within(100, caller)).catch(() => order.push(caller))
    const greedy = ['mallory', 'mike'].flatMap((caller) => Array.from({ length: 5 }, () => long(caller)))
    await Promise.all([...greedy, count('ada').then(() => order.push('ada'))])
    assert.ok(order.indexOf('ada') < 8, order.join())
  })

  it('refuse only the caller that has too many waiting', async () => {
    const greedy = Array.from({ length: 300 }, () => count('mallory'))
    const other = count('ada')
    const outcomes = await Promise.allSettled(greedy)
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    assert.ok(refused.length > 100 && refused.length < 300, String(refused.length))
    assert.ok(refused.every((reason) => reason instanceof TooManyWaiting))
    await other
  })

  it('fail only the requests that a dying thread had not answered', async () => {
    const lost = port.query('crash', null, within(1_000))
    const others = [count('bob'), count('ada'), count('zoe')]
    await assert.rejects(lost, DatabaseUnavailable)
    const counts = await Promise.all(others)
    assert.ok(counts.every(([number]) => number === counts[0]?.[0]))
  })

  it('serve again at once after each thread has died', async () => {
    const crash = (caller: string) => port.query('crash', null, within(1_000, caller))
    const crashes = await Promise.allSettled([crash('ada'), crash('bob')])
    assert.ok(crashes.every(({ status }) => status === 'rejected'))
    assert.equal((await count()).length, 2)
  })

  it('lose only the thread that takes too much memory', async () => {
    await assert.rejects(port.query('hoard', null, within(1_000)), DatabaseUnavailable)
    await count()
  })

  it('cannot start while the file is gone, but can once it is back', async (t) => {
    const file = join(folder, 'moved.db')
    const own = await openTestPort(`file:${file}`)
    t.after(() => own.close())
    renameSync(file, `${file}.away`)
    await assert.rejects(own.query('countTwice', null, within(1_000)), DatabaseUnavailable)
    renameSync(`${file}.away`, file)
    assert.deepEqual(await own.query('countTwice', null, within(1_000)), [3, 3])
  })

  it('end when the port is closed, which then answers nothing', async () => {
    const own = await open()
    assert.deepEqual(await own.query('countTwice', null, within(1_000)), [3, 3])
    const last = own.query('endless', null, within(100)).catch((error: unknown) => error)
    await wait(20)
    await own.close()
    assert.ok((await last) instanceof Error)
    await assert.rejects(own.query('countTwice', null, within(1_000)), DatabaseUnavailable)
  })

  it('end when the port is closed even if a thread dies at the same time', async () => {
    const own = await open()
    assert.deepEqual(await own.query('countTwice', null, within(1_000)), [3, 3])
    const last = own.query('hoard', null, within(1_000)).catch((error: unknown) => error)
    await wait(20)
    await own.close()
    assert.ok((await last) instanceof DatabaseUnavailable)
    await assert.rejects(own.ping(), DatabaseUnavailable)
  })
})
