import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { asksBeforeLeaving, goOffline, settled } from '../../support/page.ts'

const { NoAnswerError, ProblemError } = await import('../../../web/src/api/problem.ts')
const { unsent } = await import('../../../web/src/auth/unsent.ts')
const { canUndo, Outbox, unsentUnder } = await import('../../../web/src/orders/outbox.ts')

type Answer = import('../../../web/src/orders/outbox.ts').Answer<string>

function refusal(code: string, status: number, retryAfterMilliseconds?: number) {
  const problem = { type: '', title: code, detail: '', instance: '', requestId: '', code, status }
  return new ProblemError(problem as ConstructorParameters<typeof ProblemError>[0], retryAfterMilliseconds)
}
const noAnswer = () => new NoAnswerError('no answer')
const limited = (milliseconds?: number) => refusal('rate-limited', 429, milliseconds)
const signedOut = () => refusal('authentication-required', 401)

const undoMilliseconds = 5_000

/** An outbox whose service answers as the test says: with a text, or by throwing. */
function page(
  rules: { isPatient?: boolean; atATime?: number; stopsAt?(end: { kind: string }): boolean } = {},
) {
  const tries: [name: string, key: string][] = []
  const answers = new Map<string, unknown[]>()
  let mostUnderWay = 0
  let underWay = 0
  const outbox = new Outbox<{ name: string }, Answer>({
    ...{ noun: 'order', isPatient: false, atATime: 1, ...rules },
    send: ({ subject: { name }, sent }, tryIt) =>
      tryIt(async () => {
        tries.push([name, sent.idempotencyKey])
        underWay += 1
        mostUnderWay = Math.max(mostUnderWay, underWay)
        try {
          const answer = await answers.get(name)?.shift()
          if (answer instanceof Error) throw answer
          return 'here'
        } finally {
          underWay -= 1
        }
      }, sent),
  })
  const kinds = () => outbox.snapshot.get().steps.map(({ progress }) => progress.kind)
  const stepOf = (name: string) => ({ subject: { name }, sent: unsentUnder() })
  return {
    outbox,
    tries,
    kinds,
    phase: () => outbox.snapshot.get().phase,
    names: () => tries.map(([name]) => name),
    keysOf: (name: string) => new Set(tries.filter(([other]) => other === name).map(([, key]) => key)),
    mostUnderWay: () => mostUnderWay,
    /** The answers to the tries of this request, in turn; then it succeeds. */
    answer: (name: string, ...of: unknown[]) => answers.set(name, of),
    load: (...names: string[]) => outbox.load(names.map(stepOf)),
    hold: (name: string) => outbox.hold({ name }, unsentUnder(), undoMilliseconds),
  }
}

async function pass(milliseconds: number): Promise<void> {
  mock.timers.tick(milliseconds)
  await settled()
}

const minute = 60_000

describe('an outbox', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'] }))
  afterEach(() => {
    for (const part of unsent.get().parts) part.discard()
    mock.timers.reset()
  })

  it('sends nothing before it begins, and then each request once, in their order', async () => {
    const { outbox, load, names, phase, kinds } = page()
    load('one', 'two', 'three')
    await pass(minute)
    assert.deepEqual([names(), phase()], [[], 'asking'])
    outbox.send()
    outbox.send()
    await settled()
    assert.deepEqual([names(), phase()], [['one', 'two', 'three'], 'done'])
    assert.deepEqual(kinds(), ['done', 'done', 'done'])
  })

  it('has at most as many under way as it may, and gives each request a key that no other has', async () => {
    const { outbox, load, mostUnderWay, tries } = page({ atATime: 3 })
    load(...Array.from({ length: 100 }, (_, at) => `order ${at}`))
    outbox.send()
    await outbox.rest()
    assert.equal(mostUnderWay(), 3)
    assert.equal(new Set(tries.map(([, key]) => key)).size, 100)
  })

  it('tries again under the same key until the failure passes, and waits as long as the service asks', async () => {
    const { outbox, load, answer, names, keysOf, kinds } = page()
    answer('one', noAnswer(), limited(7_000), refusal('idempotency-in-progress', 409))
    load('one')
    outbox.send()
    await settled()
    assert.deepEqual([names().length, kinds()], [1, ['retrying']])
    await pass(1_000)
    await pass(6_999)
    assert.equal(names().length, 2)
    await pass(1)
    await pass(4_000)
    assert.deepEqual([names().length, keysOf('one').size, kinds()], [4, 1, ['done']])
  })

  it('stops: it begins nothing more, tries nothing again, and awaits the answer to what was sent', async () => {
    const { outbox, load, answer, names, kinds, phase } = page()
    const { promise, resolve } = Promise.withResolvers<string>()
    answer('one', promise)
    load('one', 'two')
    outbox.send()
    outbox.stop()
    assert.deepEqual([phase(), kinds()], ['stopping', ['sending', 'waiting']])
    resolve('here')
    await pass(minute)
    assert.deepEqual([names(), phase(), kinds()], [['one'], 'done', ['done', 'waiting']])
    outbox.send()
    await settled()
    assert.deepEqual(names(), ['one', 'two'])
  })

  it('knows after a stop whether nothing has happened', async () => {
    for (const [failure, kind] of [
      [noAnswer(), 'unclear'],
      [refusal('database-unavailable', 503), 'unclear'],
      [limited(), 'waiting'],
    ] as const) {
      const { outbox, load, answer, kinds } = page()
      answer('one', failure)
      load('one')
      outbox.send()
      await settled()
      outbox.stop()
      await settled()
      assert.deepEqual(kinds(), [kind])
    }
  })

  it('never says that nothing happened if it cannot know, however the next try is refused', async () => {
    const denied = refusal('permission-denied', 403)
    for (const [failures, kind] of [
      [[denied], 'refused'],
      [[noAnswer(), denied], 'unclear'],
      [[refusal('internal-error', 500)], 'unclear'],
      // The service looks at the order only when it does not know the key.
      [[noAnswer(), refusal('order-not-found', 404)], 'refused'],
      [[noAnswer(), refusal('precondition-failed', 412)], 'refused'],
      [[noAnswer(), refusal('decision-signature-invalid', 403)], 'refused'],
    ] as const) {
      const { outbox, load, answer, kinds, keysOf } = page()
      answer('one', ...failures, denied)
      load('one')
      outbox.send()
      await settled()
      await pass(1_000)
      assert.deepEqual(kinds(), [kind])
      outbox.send(() => true)
      await settled()
      assert.deepEqual(
        [kinds(), keysOf('one').size],
        [[failures.length > 1 || kind === 'unclear' ? 'unclear' : kind], 1],
      )
    }
  })

  it('leaves the others alone after a failure that is about all', async () => {
    const { outbox, load, answer, kinds, names } = page({ stopsAt: ({ kind }) => kind === 'refused' })
    answer('one', refusal('permission-denied', 403))
    load('one', 'two')
    outbox.send()
    await pass(minute)
    assert.deepEqual([kinds(), names()], [['refused', 'waiting'], ['one']])
  })

  it('does not know what became of a request that was taken away under way', async () => {
    const { outbox, answer, tries } = page()
    const sent = unsentUnder()
    const { promise, resolve } = Promise.withResolvers<Error>()
    answer('one', promise, refusal('validation-failed', 400))
    outbox.load([{ subject: { name: 'one' }, sent }])
    outbox.send()
    outbox.load([{ subject: { name: 'one' }, sent }])
    outbox.send()
    await settled()
    assert.equal(outbox.snapshot.get().steps[0]?.progress.kind, 'unclear')
    resolve(limited())
    await settled()
    await pass(minute)
    assert.equal(outbox.snapshot.get().steps[0]?.progress.kind, 'unclear')
    assert.equal(tries.length, 2)
  })

  it('keeps the page until everything is answered, and reports what it has not sent', async () => {
    const { outbox, load, answer } = page()
    answer('one', noAnswer())
    load('one', 'two')
    assert.equal(asksBeforeLeaving(), false)
    outbox.send()
    await settled()
    const [part] = unsent.get().parts
    assert.deepEqual([part?.noun, part?.count, part?.failure instanceof NoAnswerError], ['order', 2, true])
    assert.equal(asksBeforeLeaving(), true)
    await pass(1_000)
    assert.deepEqual([unsent.get().parts, part?.isAllSent(), asksBeforeLeaving()], [[], true, false])
  })

  it('sends nothing more once what it holds is discarded, and knows when not all is sent', async () => {
    const { outbox, load, answer, names, kinds } = page()
    answer('one', refusal('validation-failed', 400), refusal('validation-failed', 400))
    load('one', 'two')
    outbox.send()
    const [part] = unsent.get().parts
    await settled()
    assert.deepEqual([kinds(), part?.isAllSent()], [['refused', 'done'], false])
    load('three')
    outbox.send()
    part?.discard()
    await pass(minute)
    assert.deepEqual([kinds(), names(), asksBeforeLeaving()], [[], ['one', 'two', 'three'], false])
  })
})

describe('an outbox that holds what can be undone', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'] }))
  afterEach(() => {
    goOffline(false)
    for (const part of unsent.get().parts) part.discard()
    mock.timers.reset()
  })
  const patient = () => page({ isPatient: true })

  it('sends each when its time is over, one after another', async () => {
    const { hold, answer, names, kinds } = patient()
    const { promise, resolve } = Promise.withResolvers<string>()
    answer('one', promise)
    hold('one')
    hold('two')
    await pass(undoMilliseconds - 1)
    assert.deepEqual([names(), kinds()], [[], ['held', 'held']])
    await pass(1)
    assert.deepEqual([names(), kinds()], [['one'], ['sending', 'held']])
    resolve('here')
    await settled()
    assert.deepEqual(
      [names(), kinds()],
      [
        ['one', 'two'],
        ['done', 'done'],
      ],
    )
  })

  it('never sends what was undone', async () => {
    const { outbox, hold, names } = patient()
    hold('one')
    hold('two')
    outbox.remove(({ subject }) => subject.name === 'one')
    await pass(minute)
    assert.deepEqual(names(), ['two'])
  })

  it('sends at once what cannot wait', async () => {
    const { hold, names } = patient()
    hold('one')
    for (const part of unsent.get().parts) part.send()
    await settled()
    assert.deepEqual(names(), ['one'])
  })

  it('waits for the connection', async () => {
    const { outbox, hold, names, kinds } = patient()
    goOffline(true)
    hold('one')
    await pass(minute)
    assert.deepEqual([names(), kinds()], [[], ['held']])
    goOffline(false)
    outbox.go()
    await settled()
    assert.deepEqual([names(), kinds()], [['one'], ['done']])
  })

  it('holds everything while its person is gone, and gives five seconds once they are back', async () => {
    const { outbox, hold, names, kinds } = patient()
    hold('one')
    outbox.stop()
    await pass(minute)
    outbox.go()
    assert.deepEqual([names(), kinds(), asksBeforeLeaving()], [[], ['held'], true])
    outbox.holdAll(undoMilliseconds)
    await pass(undoMilliseconds - 1)
    assert.deepEqual(names(), [])
    await pass(1)
    assert.deepEqual([names(), kinds()], [['one'], ['done']])
  })

  it('goes on after a late answer that came from the session before', async () => {
    const { outbox, hold, answer, names, kinds } = patient()
    const { promise, resolve } = Promise.withResolvers<Error>()
    answer('one', promise)
    hold('one')
    await pass(undoMilliseconds)
    outbox.stop()
    outbox.holdAll(undoMilliseconds)
    hold('two')
    resolve(signedOut())
    await pass(undoMilliseconds)
    assert.deepEqual(
      [names(), kinds()],
      [
        ['one', 'one', 'two'],
        ['done', 'done'],
      ],
    )
  })

  it('holds again what the end of the session cut off; what may have happened cannot be undone', async () => {
    for (const [failures, isUndoable] of [
      [[signedOut()], true],
      [[limited()], true],
      [[noAnswer()], false],
      [[noAnswer(), signedOut()], false],
    ] as const) {
      const { outbox, hold, answer, names, kinds, keysOf } = patient()
      answer('one', ...failures)
      hold('one')
      await pass(undoMilliseconds)
      if (failures.length > 1) await pass(1_000)
      outbox.stop()
      await settled()
      assert.deepEqual(kinds(), ['held'])
      assert.deepEqual(outbox.snapshot.get().steps.map(canUndo), [isUndoable])
      outbox.holdAll(undoMilliseconds)
      await pass(undoMilliseconds)
      assert.deepEqual([kinds(), names().length, keysOf('one').size], [['done'], failures.length + 1, 1])
    }
  })
})
