import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { answerWith, goOffline, pressKey, problemWith, serviceIs, settled } from '../../support/page.ts'
import { address, drawn, drawnAgain, focused, jsx, leave, press } from '../drawing.ts'

const { NoAnswerError, ProblemError } = await import('../../../web/src/api/problem.ts')
const { loadSession } = await import('../../../web/src/auth/session.ts')
const { reportUnsent } = await import('../../../web/src/auth/unsent.ts')
const { OnTheirWay } = await import('../../../web/src/orders/decide/on-their-way.tsx')
const { hold, outbox, takeUp } = await import('../../../web/src/orders/decide/sending.ts')
const { silence, toasts } = await import('../../../web/src/ui/announce.ts')

const mara = { id: 1, userName: 'mara' }
const order = {
  ...{ id: 'a', customer: 'Acme', total: 1234, createdAtUtc: '2026-11-20T09:30:00.000Z' },
  ...{ status: 0 as const, etag: '"1"' },
}
const held = { kind: 'held', until: 4_900 }
const retrying = { kind: 'retrying', failure: new NoAnswerError() }
const unclear = { kind: 'unclear', failure: new NoAnswerError() }
const refused = (code: string, status: number) => ({
  kind: 'refused',
  failure: new ProblemError(
    { code, status, title: code, detail: 'It is so.', requestId: 'r' } as never,
    undefined,
  ),
})
const approving = 'Approving Acme (1,234.00)'
const undoable = `${approving} in five seconds. Press u to undo it.`
const notSent = 'One decision not sent.'
const offline = `${notSent} It will go out when you’re back online.`
const late = `${notSent} The service is not responding. Trying again automatically.`
const unanswered = 'There was no answer. You can safely try again: nothing happens twice.'
const own = 'You or one of your services created it, so someone else must approve it.'
const dismissable = '[Open the order] | [Dismiss]'

describe('the decisions on their way', () => {
  let answer = () => answerWith(204)
  let sent = 0
  serviceIs((path) => {
    if (path === '/v1/auth/me') return answerWith(200, { ...mara, roles: [] })
    if (!path.endsWith('/approve'))
      return answerWith(200, { permissions: [], token: 't', required: 1, given: [{}] })
    sent += 1
    return answer()
  })
  beforeEach(async () => {
    await loadSession()
    mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] })
    takeUp(1)
    sent = 0
    silence()
  })
  afterEach(() => {
    leave()
    outbox.clear()
    silence()
    goOffline(false)
    mock.timers.reset()
  })
  const shown = (at?: string) => drawn(jsx(OnTheirWay, {}), at).join(' | ')
  const ids = () => outbox.snapshot.get().steps.map(({ subject }) => subject.id)
  const holdTwo = () => {
    for (const id of ['a', 'b']) hold(mara, 'approve', { ...order, id })
  }

  for (const [progresses, lines, isOffline = false] of [
    [[], ''],
    [[held], `${undoable} | ${approving} in 5\u00a0s | [Undou]`],
    [[held, held], `${undoable} | ${approving} in 5\u00a0s · 1 more queued | [Undou] | [Undo all]`],
    [[held, { kind: 'sending' }], `${undoable} | ${approving} in 5\u00a0s | [Undou]`],
    [[held], `${offline} | ${offline} | [Undou]`, true],
    [[retrying], `${late} | ${late}`],
    [[unclear], `Perhaps not approved: Acme, 1,234.00 | ${unanswered} | [Try again] | ${dismissable}`],
    [[refused('self-approval', 409)], `Not approved: Acme, 1,234.00 | ${own} | ${dismissable}`],
    [
      [refused('x', 500)],
      `Not approved: Acme, 1,234.00 | x. Give your administrator this request ID: r | [Try again] | ${dismissable}`,
    ],
  ] as [object[], string, boolean?][]) {
    it(`show ${lines}`, () => {
      const steps = progresses.map((progress, at) => {
        const subject = { ...order, id: `${at}`, action: 'approve', user: mara }
        return { subject, sent: { idempotencyKey: `${at}` }, progress }
      })
      goOffline(isOffline)
      outbox.snapshot.set({ phase: 'running', steps } as never)
      assert.equal(shown(), lines)
    })
  }

  for (const [noun, count, at, lines] of [
    ['order', 3, '/', 'Creating orders: 3 orders to go. | [Show the sheet]'],
    ['order', 1, '/', ''],
    ['document', 3, '/', ''],
    ['order', 3, '/orders/new/sheet', ''],
  ] as const) {
    it(`show how far a sheet is, except on its page: ${count} ${noun}, ${at}`, () => {
      const part = {}
      const rest = { isPatient: false, failure: undefined, send() {}, discard() {}, isAllSent: () => true }
      reportUnsent(part, { noun, count, ...rest })
      assert.equal(shown(at), lines)
      reportUnsent(part, { noun, count: 0, ...rest })
    })
  }

  it('count down', () => {
    hold(mara, 'approve', order)
    assert.match(shown(), /in 5\u00a0s/)
    mock.timers.tick(1_000)
    assert.match(drawnAgain().join(), /in 4\u00a0s/)
  })

  it('are undone by a key or a button, and a review goes back to the order', async () => {
    holdTwo()
    shown('/orders/review?q=x')
    assert.deepEqual([pressKey('u', { repeat: true }), ids()], [true, ['a', 'b']])
    assert.deepEqual([pressKey('u'), ids()], [true, ['a']])
    assert.equal(address, '/orders/review?q=x&at=b')
    hold(mara, 'approve', { ...order, id: 'b' })
    drawnAgain()
    press('Undo all')
    mock.timers.tick(50)
    assert.deepEqual([ids(), address, focused], [[], '/orders/review?q=x&at=a', 'main'])
  })

  it('are undone by Ctrl and Z', async () => {
    hold(mara, 'approve', order)
    shown('/orders')
    assert.deepEqual(
      [pressKey('z'), pressKey('z', { ctrlKey: true, repeat: true }), ids()],
      [false, false, ['a']],
    )
    assert.deepEqual([pressKey('z', { ctrlKey: true }), ids(), address], [true, [], '/orders'])
    drawnAgain()
    assert.deepEqual([pressKey('z', { ctrlKey: true }), pressKey('u')], [false, false])
    leave()
    hold(mara, 'approve', order)
    assert.deepEqual([pressKey('z', { ctrlKey: true }), ids()], [false, ['a']])
  })

  it('are sent again, or dismissed, once they failed', async () => {
    answer = () => problemWith(500, 'internal-error')
    holdTwo()
    mock.timers.tick(5_000)
    await settled()
    answer = () => answerWith(204)
    shown()
    press('Try again')
    await settled()
    assert.deepEqual([sent, ids()], [3, ['a']])
    drawnAgain()
    press('Dismiss')
    mock.timers.tick(50)
    assert.deepEqual([ids(), focused], [[], 'main'])
  })

  it('of another person are dropped', async () => {
    hold({ id: 2, userName: 'bo' }, 'approve', order)
    shown()
    assert.deepEqual(
      toasts.get().map(({ text }) => text),
      ['One decision by the previous user was not sent.'],
    )
  })
})
