import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import {
  answerWith,
  asksBeforeLeaving,
  goOffline,
  happen,
  problemWith,
  serviceIs,
  settled,
} from '../../support/page.ts'

const { queries } = await import('../../../web/src/api/queries.ts')
const { endSession, loadSession, signOut } = await import('../../../web/src/auth/session.ts')
const { unsent } = await import('../../../web/src/auth/unsent.ts')
const { courseQuery, forgetCourse } = await import('../../../web/src/orders/decide/course.ts')
const { hold, outbox, takeUp, undo, undoMilliseconds } = await import(
  '../../../web/src/orders/decide/sending.ts'
)
const { silence, toasts } = await import('../../../web/src/ui/announce.ts')

const subject = {
  id: 'a',
  customer: 'Acme',
  total: 1,
  createdAtUtc: '2026-11-20T09:30:00.000Z',
  status: 0 as const,
  etag: '"3"',
}

const mara = { id: 1, userName: 'mara' }

describe('a decision that was held', () => {
  let userId = 1
  let decision: () => Response | Promise<Response>
  let approvals: () => Response
  let sent: Request[] = []
  let permissionsRead = 0
  serviceIs((path, request) => {
    if (path === '/v1/auth/me') return answerWith(200, { id: userId, userName: 'mara', roles: [] })
    if (path === '/v1/auth/me/permissions') {
      permissionsRead += 1
      return answerWith(200, { permissions: [] })
    }
    if (path === '/v1/auth/csrf') return answerWith(200, { token: 'token' })
    if (path.endsWith('/approvals')) return approvals()
    if (request.method !== 'PATCH') return answerWith(204)
    sent.push(request)
    return decision()
  })
  beforeEach(async () => {
    userId = 1
    decision = () => answerWith(204)
    approvals = () => answerWith(200, { required: 1, given: [{ by: 'mara' }] })
    sent = []
    await loadSession()
    mock.timers.enable({ apis: ['setTimeout', 'Date'] })
    takeUp(1)
    // Other tests of this process announce things, too.
    silence()
    forgetCourse()
    await queries.fetchQuery(courseQuery({ ids: 'a,b' }, 1))
  })
  afterEach(() => {
    outbox.clear()
    goOffline(false)
    mock.timers.reset()
    silence()
  })

  const marks = () => queries.getQueryData(courseQuery({ ids: 'a,b' }, 1).queryKey)?.marks
  const kinds = () => outbox.snapshot.get().steps.map(({ progress }) => progress.kind)
  const keys = () => sent.map((request) => request.headers.get('idempotency-key'))
  const held = () => unsent.get().parts.map(({ count }) => count)
  const said = () => toasts.get().map(({ text }) => text)
  async function pass(milliseconds: number): Promise<void> {
    mock.timers.tick(milliseconds)
    await settled()
  }

  it('is sent once with its version and its reason, and is then marked and announced', async () => {
    hold(mara, 'reject', { ...subject, reason: 'Too dear.' })
    hold(mara, 'reject', { ...subject, reason: 'Too dear.' })
    assert.deepEqual([marks(), asksBeforeLeaving()], [{}, true])
    await pass(undoMilliseconds)
    const [request, ...others] = sent
    assert.equal(others.length, 0)
    assert.equal(request?.headers.get('if-match'), '"3"')
    assert.deepEqual(await request?.json(), { reason: 'Too dear.' })
    assert.deepEqual([kinds(), marks(), asksBeforeLeaving()], [[], { a: 'reject' }, false])
    assert.deepEqual(said(), ['One decision sent.'])
  })

  it('is announced together with others', async () => {
    for (const id of ['a', 'b', 'c']) hold(mara, 'approve', { ...subject, id })
    await pass(undoMilliseconds)
    assert.deepEqual(said(), ['3 decisions sent.'])
  })

  it('is sent again under its key while there is no answer, and another one has another key', async () => {
    const answers = [() => Promise.reject(new TypeError('no connection')), () => problemWith(503, 'draining')]
    decision = () => answers.shift()?.() ?? answerWith(204)
    hold(mara, 'approve', subject)
    hold(mara, 'approve', { ...subject, id: 'b' })
    await pass(undoMilliseconds)
    await pass(1_000)
    await pass(2_000)
    const [first, second, third, fourth] = keys()
    assert.ok(first)
    assert.deepEqual([second, third, keys().length], [first, first, 4])
    assert.notEqual(fourth, first)
    assert.deepEqual([kinds(), said()], [[], ['2 decisions sent.']])
  })

  it('waits for the connection, and is sent as soon as it is back', async () => {
    goOffline(true)
    hold(mara, 'approve', subject)
    await pass(undoMilliseconds)
    assert.deepEqual([sent.length, kinds()], [0, ['held']])
    goOffline(false)
    await settled()
    assert.deepEqual([sent.length, kinds()], [1, []])
  })

  for (const [code, status, reads] of [
    ['self-approval', 409, 0],
    ['permission-denied', 403, 1],
  ] as const) {
    it(`is shown when it is refused (${code}), without a mark`, async () => {
      decision = () => problemWith(status, code)
      hold(mara, 'approve', subject)
      const before = permissionsRead
      await pass(undoMilliseconds)
      assert.deepEqual([kinds(), marks(), permissionsRead - before], [['refused'], {}, reads])
    })
  }

  it('waits while the session is over, and is sent when the same person is back', async () => {
    decision = () => problemWith(401, 'authentication-required')
    hold(mara, 'approve', subject)
    hold(mara, 'approve', { ...subject, id: 'b' })
    await pass(undoMilliseconds)
    assert.deepEqual([sent.length, kinds()], [1, ['held', 'held']])
    assert.deepEqual([held(), unsent.get().userName], [[2], 'mara'])
    assert.equal(asksBeforeLeaving(), true)
    decision = () => answerWith(204)
    await loadSession()
    takeUp(1)
    await pass(undoMilliseconds - 1)
    assert.deepEqual([sent.length, said()], [1, []])
    await pass(1)
    assert.deepEqual([sent.length, kinds(), held(), said()], [3, [], [], ['2 decisions sent.']])
    assert.equal(keys()[1], keys()[0])
  })

  it('is dropped when someone else comes, who learns only that it was not sent', async () => {
    hold(mara, 'approve', subject)
    endSession('expired')
    userId = 2
    await loadSession()
    await pass(undoMilliseconds)
    assert.deepEqual([sent.length, kinds()], [0, ['held']])
    takeUp(2)
    await pass(undoMilliseconds)
    assert.deepEqual([sent.length, kinds(), asksBeforeLeaving()], [0, [], false])
    assert.deepEqual(said(), ['One decision by the previous user was not sent.'])
  })

  for (const answer of [() => problemWith(409, 'self-approval'), () => answerWith(204)]) {
    it(`never shows a late answer to the next user: ${answer().status}`, async () => {
      const { promise, resolve } = Promise.withResolvers<Response>()
      decision = () => promise
      hold(mara, 'approve', subject)
      await pass(undoMilliseconds)
      assert.deepEqual(kinds(), ['sending'])
      userId = 2
      await loadSession()
      takeUp(2)
      assert.deepEqual(kinds(), [])
      await queries.fetchQuery(courseQuery({ ids: 'a,b' }, 2))
      hold({ id: 2, userName: 'wren' }, 'approve', subject)
      resolve(answer())
      await settled()
      assert.deepEqual([kinds(), said()], [['held'], []])
      assert.deepEqual(queries.getQueryData(courseQuery({ ids: 'a,b' }, 2).queryKey)?.marks, {})
    })
  }

  it('is not sent, now or later, because its page goes away', async () => {
    hold(mara, 'approve', subject)
    hold(mara, 'approve', { ...subject, id: 'b' })
    happen('pagehide', true)
    await pass(undoMilliseconds)
    takeUp(1)
    await pass(undoMilliseconds)
    assert.deepEqual([sent.length, kinds(), said(), asksBeforeLeaving()], [0, [], [], false])
  })

  it('is gone after a sign-out, like the reports of what failed', async () => {
    decision = () => problemWith(409, 'self-approval')
    hold(mara, 'approve', subject)
    await pass(undoMilliseconds)
    assert.deepEqual(kinds(), ['refused'])
    hold(mara, 'approve', subject)
    assert.deepEqual(kinds(), ['refused', 'held'])
    await signOut()
    assert.deepEqual([kinds(), held(), asksBeforeLeaving()], [[], [], false])
    await loadSession()
    takeUp(1)
    await pass(undoMilliseconds)
    assert.equal(sent.length, 1)
  })

  it('cannot be undone after a try, not even when the session ends before the answer', async () => {
    decision = () => Promise.reject(new TypeError('no connection'))
    hold(mara, 'approve', subject)
    await pass(undoMilliseconds)
    endSession('expired')
    await settled()
    assert.deepEqual([kinds(), undo('last')], [['held'], undefined])
    decision = () => answerWith(204)
    silence()
    await loadSession()
    takeUp(1)
    await pass(undoMilliseconds)
    assert.deepEqual([keys().length, new Set(keys()).size, said()], [2, 1, ['One decision sent.']])
  })

  it('does not wait for the number of approvals, which may be unreadable', async () => {
    approvals = () => problemWith(503, 'database-unavailable')
    hold(mara, 'approve', subject)
    await pass(undoMilliseconds)
    assert.deepEqual([kinds(), said()], [[], ['One decision sent.']])
  })
})
