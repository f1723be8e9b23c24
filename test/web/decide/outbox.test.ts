import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { NoAnswerError } from '../../../web/src/api/problem.ts'
import type { Progress } from '../../../web/src/orders/decide/decisions.ts'
import { type Entry, type Left, Outbox, undoMilliseconds } from '../../../web/src/orders/decide/outbox.ts'

const order = { id: 'a', customer: 'Acme', total: 1, createdAtUtc: '2026-11-20T09:30:00.000Z' }
const made = (key: string, userId = 1) => ({
  userId,
  action: 'approve' as const,
  decision: { id: `order of ${key}`, etag: '"1"', idempotencyKey: key },
})
const decided: Progress = { kind: 'decided', missing: 0 }
const refused: Progress = { kind: 'refused', failure: new Error('refused') }
const retrying: Progress = { kind: 'retrying', failure: new NoAnswerError('no answer') }

/** The storage of a browser, which its pages share, and a clock that is moved. */
function browser() {
  const left = new Map<string, Left>()
  const timers = new Set<{ at: number; act(): void }>()
  let time = 1_000_000
  return {
    left,
    now: () => time,
    pass(milliseconds: number) {
      time += milliseconds
      for (const timer of [...timers]) {
        if (timer.at > time) continue
        timers.delete(timer)
        timer.act()
      }
    },
    page() {
      const sent: Entry[] = []
      let answer: Progress | undefined | Promise<Progress | undefined> = decided
      const outbox = new Outbox({
        now: () => time,
        after(milliseconds, act) {
          const timer = { at: time + milliseconds, act }
          timers.add(timer)
          return () => timers.delete(timer)
        },
        async send(entry) {
          sent.push(entry)
          return answer
        },
        kept: {
          put: (one) => left.set(one.decision.idempotencyKey, one),
          drop: (key) => left.delete(key),
          all: () => [...left.values()],
        },
      })
      return {
        outbox,
        keys: () => sent.map(({ decision }) => decision.idempotencyKey),
        sent,
        answers: (next: typeof answer) => {
          answer = next
        },
        kinds: () => outbox.get().map(({ state }) => state.kind),
      }
    },
  }
}

const settle = () => new Promise(setImmediate)

describe('an outbox', () => {
  it('holds a decision for five seconds, then sends it, and keeps nothing of it', async () => {
    const { page, pass, left } = browser()
    const { outbox, keys, kinds } = page()
    outbox.hold(made('one'), order)
    pass(undoMilliseconds - 1)
    assert.deepEqual([keys(), kinds(), left.size], [[], ['held'], 1])
    pass(1)
    assert.deepEqual([keys(), kinds()], [['one'], ['under-way']])
    await settle()
    assert.deepEqual([kinds(), left.size], [[], 0])
  })

  it('undoes the last one that is held, and no other', async () => {
    const { page, pass, left } = browser()
    const { outbox, keys } = page()
    outbox.hold(made('one'), order)
    pass(1_000)
    outbox.hold(made('two'), order)
    assert.equal(outbox.undo()?.decision.idempotencyKey, 'two')
    assert.deepEqual([...left.keys()], ['one'])
    pass(10_000)
    assert.deepEqual(keys(), ['one'])
    assert.equal(outbox.undo(), undefined)
  })

  it('shows what failed until it is dismissed, also on the next page', async () => {
    const { page, pass, left } = browser()
    const first = page()
    first.answers(refused)
    first.outbox.hold(made('one'), order)
    pass(undoMilliseconds)
    await settle()
    assert.deepEqual(first.kinds(), ['failed'])
    pass(1_000_000)
    const second = page()
    second.outbox.takeOver(1)
    assert.deepEqual([second.keys(), second.kinds()], [[], ['left']])
    second.outbox.dismiss('one')
    assert.deepEqual([second.kinds(), left.size], [[], 0])
  })

  it('sends again under the same key, and only once at a time', async () => {
    const { page, pass } = browser()
    const { outbox, answers, keys, kinds } = page()
    answers({ kind: 'unclear', failure: new NoAnswerError('no answer') })
    outbox.hold(made('one'), order)
    pass(undoMilliseconds)
    await settle()
    answers(decided)
    outbox.send('one')
    outbox.send('one')
    await settle()
    assert.deepEqual([keys(), kinds()], [['one', 'one'], []])
  })
})

describe('an outbox whose page goes', () => {
  it('sends at once what it holds, and the next page finds out what became of it under the same key', async () => {
    const { page, pass, left } = browser()
    const first = page()
    first.answers(new Promise(() => undefined))
    first.outbox.hold(made('one'), order)
    first.outbox.leave()
    assert.deepEqual(first.keys(), ['one'])
    pass(500)
    const second = page()
    second.outbox.takeOver(1)
    assert.deepEqual([second.keys(), second.kinds()], [['one'], ['under-way']])
    await settle()
    assert.deepEqual([second.kinds(), left.size], [[], 0])
  })

  it('leaves to the next page what it was trying', async () => {
    const { page, pass } = browser()
    const first = page()
    first.answers(new Promise(() => undefined))
    first.outbox.hold(made('one'), order)
    pass(undoMilliseconds)
    first.outbox.leave()
    const second = page()
    second.outbox.takeOver(1)
    assert.deepEqual(second.keys(), ['one'])
  })

  it('does not send by itself what was left long ago', () => {
    const { page, pass } = browser()
    const first = page()
    first.answers(new Promise(() => undefined))
    first.outbox.hold(made('one'), order)
    first.outbox.leave()
    pass(61_000)
    const second = page()
    second.outbox.takeOver(1)
    assert.deepEqual([second.keys(), second.kinds()], [[], ['left']])
    second.outbox.send('one')
    assert.deepEqual(second.keys(), ['one'])
  })

  it('leaves alone what another page can still undo, and takes it over when that page is gone', () => {
    const { page, pass } = browser()
    page().outbox.hold(made('one'), order)
    const second = page()
    second.outbox.takeOver(1)
    pass(undoMilliseconds)
    assert.deepEqual(second.keys(), [])
    pass(40_000)
    assert.deepEqual(second.keys(), ['one'])
  })

  it('shows another person nothing of it, and keeps it for a day', () => {
    const { page, pass, left } = browser()
    const first = page()
    first.outbox.hold(made('one'), order)
    first.outbox.forget()
    assert.deepEqual(first.kinds(), [])
    first.outbox.takeOver(2)
    pass(undoMilliseconds)
    assert.deepEqual([first.keys(), first.kinds(), left.size], [[], [], 1])
    pass(86_400_000)
    first.outbox.takeOver(2)
    assert.equal(left.size, 0)
  })

  it('ignores an answer that comes when the person is gone', async () => {
    const { page, pass, left } = browser()
    const { outbox, answers, kinds } = page()
    const { promise, resolve } = Promise.withResolvers<Progress>()
    answers(promise)
    outbox.hold(made('one'), order)
    pass(undoMilliseconds)
    outbox.forget()
    resolve(refused)
    await settle()
    assert.deepEqual([kinds(), left.size], [[], 1])
  })
})

describe('an outbox before the sign-out', () => {
  it('sends everything at once, even what other pages hold', async () => {
    const { page, left } = browser()
    const [first, second] = [page(), page()]
    first.outbox.hold(made('one'), order)
    second.outbox.hold(made('two'), order)
    assert.equal(await first.outbox.flush(1, 1_000), true)
    assert.deepEqual([first.keys(), left.size], [['one', 'two'], 0])
  })

  it('reports that not all of it was done: refused, or not within the time', async () => {
    const { page, pass } = browser()
    const first = page()
    first.answers(refused)
    first.outbox.hold(made('one'), order)
    assert.equal(await first.outbox.flush(1, 1_000), false)
    const second = page()
    second.answers(new Promise(() => undefined))
    second.outbox.hold(made('two'), order)
    const flushed = second.outbox.flush(1, 1_000)
    pass(1_000)
    assert.equal(await flushed, false)
  })

  it('does not wait for what the person has already seen', async () => {
    const { page, pass, left } = browser()
    const { outbox, answers } = page()
    answers(refused)
    outbox.hold(made('one'), order)
    pass(undoMilliseconds)
    await settle()
    assert.equal(await outbox.flush(1, 1_000), true)
    assert.equal(left.size, 0)
  })
})

describe('an outbox that is sending', () => {
  it('shows its progress', async () => {
    const tells: ((progress: Progress) => void)[] = []
    const outbox = new Outbox({
      now: () => 0,
      after: (_milliseconds, act) => {
        act()
        return () => undefined
      },
      send: (_entry, tell) => {
        tells.push(tell)
        return new Promise(() => undefined)
      },
      kept: { put: mock.fn(), drop: mock.fn(), all: () => [] },
    })
    outbox.hold(made('one'), order)
    tells[0]?.(retrying)
    assert.deepEqual(outbox.get()[0]?.state, { kind: 'under-way', progress: retrying })
  })
})
