import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { orderStates } from '../../../client/src/facts.ts'
import { NoAnswerError, ProblemError } from '../../../web/src/api/problem.ts'
import type { Progress } from '../../../web/src/orders/decide/decisions.ts'
import { type Entry, isOpen, Outbox, undoMilliseconds } from '../../../web/src/orders/decide/outbox.ts'

const made = (key: string, userId = 1): Omit<Entry, 'state'> => ({
  user: { id: userId, userName: 'mara' },
  action: 'approve',
  decision: { id: `order of ${key}`, etag: '"1"', idempotencyKey: key },
  order: {
    id: `order of ${key}`,
    customer: 'Acme',
    total: 1,
    status: orderStates.Pending,
    createdAtUtc: '2026-11-20T09:30:00.000Z',
  },
})
const decided: Progress = { kind: 'decided', missing: 0 }
const refused: Progress = { kind: 'refused', failure: new Error('refused') }
const retrying: Progress = { kind: 'retrying', failure: new NoAnswerError('no answer') }
const unclear: Progress = { kind: 'unclear', failure: new NoAnswerError('no answer') }
const signedOut: Progress = {
  kind: 'refused',
  failure: new ProblemError(
    {
      type: '',
      title: '',
      status: 401,
      detail: '',
      instance: '/',
      code: 'authentication-required',
      requestId: 'r',
    },
    undefined,
  ),
}

/** An outbox on a page whose clock, connection and service the test moves. */
function page() {
  let time = 1_000_000
  let timer: { at: number; act(): void } | undefined
  const reports: ((progress: Progress) => void)[] = []
  const sent: string[] = []
  const signals: AbortSignal[] = []
  const counts: number[] = []
  const open: number[] = []
  const service: { canSend: boolean; answer: Progress | Promise<Progress> } = {
    canSend: true,
    answer: decided,
  }
  const outbox = new Outbox({
    now: () => time,
    after(milliseconds, act) {
      const set = { at: time + milliseconds, act }
      timer = set
      return () => {
        if (timer === set) timer = undefined
      }
    },
    canSend: () => service.canSend,
    async send({ decision }, report, signal) {
      sent.push(decision.idempotencyKey)
      signals.push(signal)
      reports.push(report)
      return service.answer
    },
    onChange: (entries) => open.push(entries.filter(isOpen).length),
    onSent: (count) => counts.push(count),
  })
  return {
    service,
    outbox,
    sent,
    signals,
    counts,
    open,
    reports,
    kinds: () => outbox.get().map(({ state }) => state.kind),
    async pass(milliseconds: number) {
      time += milliseconds
      if (timer && timer.at <= time) {
        const { act } = timer
        timer = undefined
        act()
      }
      await new Promise(setImmediate)
    },
  }
}

const never = () => new Promise<Progress>(() => undefined)
const keysOf = (entries: readonly Entry[]) => entries.map(({ decision }) => decision.idempotencyKey)

describe('an outbox', () => {
  it('holds a decision for five seconds, then sends it, and reports that', async () => {
    const { outbox, sent, kinds, counts, open, pass } = page()
    outbox.hold(made('one'))
    await pass(undoMilliseconds - 1)
    assert.deepEqual([sent, kinds(), counts], [[], ['held'], []])
    await pass(1)
    assert.deepEqual([sent, kinds(), counts, open.at(-1)], [['one'], [], [1], 0])
  })

  it('sends one at a time in their order, and reports once how many', async () => {
    const { service, outbox, sent, counts, kinds, pass } = page()
    const { promise, resolve } = Promise.withResolvers<Progress>()
    service.answer = promise
    outbox.hold(made('one'))
    outbox.hold(made('two'))
    outbox.hold(made('three'))
    await pass(undoMilliseconds)
    assert.deepEqual([sent, kinds()], [['one'], ['under-way', 'held', 'held']])
    service.answer = decided
    resolve(decided)
    await pass(0)
    assert.deepEqual([sent, kinds(), counts], [['one', 'two', 'three'], [], [3]])
    outbox.hold(made('four'))
    await pass(undoMilliseconds)
    assert.deepEqual(counts, [3, 1])
  })

  it('undoes the last decision it holds, or all of them, and nothing that was sent', async () => {
    const { service, outbox, sent, pass } = page()
    service.answer = never()
    outbox.hold(made('sent'))
    await pass(undoMilliseconds)
    for (const key of ['one', 'two', 'three']) outbox.hold(made(key))
    assert.deepEqual(keysOf(outbox.undo('last')), ['three'])
    assert.deepEqual(keysOf(outbox.undo('all')), ['one', 'two'])
    assert.deepEqual(outbox.undo('last'), [])
    assert.deepEqual(outbox.undo('all'), [])
    await pass(60_000)
    assert.deepEqual([sent, keysOf(outbox.get())], [['sent'], ['sent']])
  })

  it('holds what it cannot send until it can, and undoes it as long as that lasts', async () => {
    const { service, outbox, sent, kinds, counts, pass } = page()
    service.canSend = false
    outbox.hold(made('one'))
    outbox.hold(made('two'))
    await pass(3_600_000)
    assert.deepEqual([sent, kinds()], [[], ['held', 'held']])
    assert.deepEqual(keysOf(outbox.undo('last')), ['two'])
    service.canSend = true
    outbox.sendDue()
    await pass(0)
    assert.deepEqual([sent, kinds(), counts], [['one'], [], [1]])
  })

  it('sends at once when the person cannot wait', async () => {
    const { outbox, sent, pass } = page()
    outbox.hold(made('one'))
    outbox.hold(made('two'))
    outbox.hurry()
    await pass(0)
    assert.deepEqual(sent, ['one', 'two'])
  })

  it('shows progress and failures, and sends again under the same key, once at a time', async () => {
    const { service, outbox, sent, kinds, counts, reports, pass } = page()
    const { promise, resolve } = Promise.withResolvers<Progress>()
    service.answer = promise
    outbox.hold(made('one'))
    await pass(undoMilliseconds)
    reports[0]?.(retrying)
    assert.deepEqual(outbox.get()[0]?.state, { kind: 'under-way', progress: retrying })
    resolve(unclear)
    await pass(0)
    assert.deepEqual([kinds(), counts], [['failed'], []])
    service.answer = refused
    void outbox.send('one')
    void outbox.send('one')
    await pass(0)
    assert.deepEqual([sent, kinds()], [['one', 'one'], ['failed']])
    outbox.dismiss('one')
    assert.deepEqual(kinds(), [])
  })
})

describe('an outbox whose person goes away', () => {
  it('keeps their decisions while the session is over, and gives them five seconds when they are back', async () => {
    const { service, outbox, sent, kinds, pass } = page()
    outbox.hold(made('one'))
    outbox.pause()
    service.canSend = false
    await pass(3_600_000)
    assert.deepEqual([sent, kinds()], [[], ['held']])
    service.canSend = true
    assert.equal(outbox.resume(1), 0)
    await pass(undoMilliseconds - 1)
    assert.deepEqual(sent, [])
    await pass(1)
    assert.deepEqual([sent, kinds()], [['one'], []])
  })

  it('holds again what was refused because the session had ended, or was not tried', async () => {
    for (const progress of [signedOut, { kind: 'waiting' } as const]) {
      const { service, signals, outbox, kinds, pass } = page()
      const { promise, resolve } = Promise.withResolvers<Progress>()
      service.answer = promise
      outbox.hold(made('one'))
      await pass(undoMilliseconds)
      outbox.pause()
      service.canSend = false
      assert.equal(signals[0]?.aborted, true)
      resolve(progress)
      await pass(0)
      assert.deepEqual(kinds(), ['held'])
    }
  })

  it('drops them when someone else comes, and counts those that were not sent', async () => {
    const { service, outbox, sent, kinds, pass } = page()
    const { promise, resolve } = Promise.withResolvers<Progress>()
    service.answer = promise
    outbox.hold(made('sent'))
    await pass(undoMilliseconds)
    outbox.hold(made('one'))
    outbox.hold(made('two'))
    outbox.pause()
    assert.equal(outbox.resume(2), 2)
    assert.deepEqual(kinds(), [])
    resolve(refused)
    await pass(undoMilliseconds)
    assert.deepEqual([sent, kinds()], [['sent'], []])
    assert.equal(outbox.resume(2), 0)
  })

  it('sends nothing after it was cleared', async () => {
    const { outbox, sent, kinds, counts, pass } = page()
    outbox.hold(made('one'))
    outbox.clear()
    await pass(undoMilliseconds)
    assert.deepEqual([sent, kinds(), counts], [[], [], []])
  })
})
