import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import type { VersionedOrder } from '../../../web/src/orders/order.ts'
import { answerWith, problemWith, serviceIs, settled, told } from '../../support/page.ts'

let approval: () => Response | Promise<Response>
let required = 1
/** The approvals are answered after this. */
let counted: Promise<void> | undefined
let userId = 1
let refreshes = 0
const { queries } = await import('../../../web/src/api/queries.ts')
const { loadSession } = await import('../../../web/src/auth/session.ts')
const { prepareDecisions } = await import('../../../web/src/orders/decide/decisions.ts')
const { backOf, resultOf } = await import('../../../web/src/orders/decide/dialog/run.ts')
const { placeOf, serviceFor, settle } = await import('../../../web/src/orders/decide/service.ts')
const { approvalsQuery, orderQuery } = await import('../../../web/src/orders/queries.ts')
const { keepDraft, readDraft } = await import('../../../web/src/ui/draft.ts')

const subject = {
  id: '1',
  customer: 'Acme',
  etag: '"1"',
  total: 1,
  createdAtUtc: '2026-11-20T09:30:00.000Z',
  status: 0 as const,
}
const { queryKey } = orderQuery('1')
const prepare = () => prepareDecisions([subject], serviceFor('approve', 'mara', [subject]))

function known(): unknown {
  const { status, modifiedBy } = queries.getQueryData(queryKey)?.order ?? {}
  return { status, modifiedBy }
}

async function isThere(id: number): Promise<void> {
  userId = id
  await loadSession()
  queries.setQueryData(queryKey, {
    order: { ...subject, modifiedBy: null },
    documents: [],
  } as unknown as VersionedOrder)
  told.length = 0
}

describe('an approval', () => {
  serviceIs(async (path) => {
    if (path === '/v1/auth/csrf') return answerWith(200, { token: 'token' })
    if (path === '/v1/auth/me') return answerWith(200, { id: userId, userName: 'mara', roles: [] })
    if (path === '/v1/auth/me/permissions') return answerWith(200, { permissions: [] })
    if (path === '/v1/auth/session/refresh') refreshes += 1
    if (path.endsWith('/approvals')) {
      const answer = answerWith(200, { required, given: [{ by: 'mara' }] })
      await counted
      return answer
    }
    return path.endsWith('/approve') ? approval() : answerWith(200, { roles: [] })
  })
  beforeEach(async () => {
    refreshes = 0
    required = 1
    await isThere(1)
  })

  it('is shown at once, and announced to the other tabs', async () => {
    approval = () => answerWith(204)
    assert.equal(await settle(prepare(), 'approve', new Map()), true)
    assert.deepEqual(known(), { status: 1, modifiedBy: 'mara' })
    assert.deepEqual(told, [{ kind: 'changed' }])
    assert.equal(refreshes, 0)
  })

  it('that is not the last one needed leaves the order pending', async () => {
    approval = () => answerWith(204)
    required = 2
    const decisions = prepare()
    await settle(decisions, 'approve', new Map())
    assert.deepEqual(known(), { status: 0, modifiedBy: null })
    assert.deepEqual(decisions.snapshot.get().steps[0]?.progress, { kind: 'decided', missing: 1 })
  })

  it('is counted afterwards, whatever was being read before, and leaves no draft', async () => {
    approval = () => answerWith(204)
    const reading = Promise.withResolvers<void>()
    required = 2
    counted = reading.promise
    const before = queries.fetchQuery(approvalsQuery('1')).catch(() => undefined)
    required = 1
    counted = undefined
    keepDraft(placeOf('approve', [subject]), 1, 'a reason')
    const decisions = prepare()
    const settling = settle(decisions, 'approve', new Map())
    await settled()
    reading.resolve()
    await settling
    assert.deepEqual(decisions.snapshot.get().steps[0]?.progress, { kind: 'decided', missing: 0 })
    assert.equal(readDraft(placeOf('approve', [subject]), 1), undefined)
    await before
  })

  it('leaves no draft of the reason for several orders, and shows it with no others', async () => {
    approval = () => answerWith(204)
    const several = [subject, { ...subject, id: '2' }]
    keepDraft(placeOf('approve', several), 1, 'a reason')
    assert.equal(readDraft(placeOf('approve', [subject, { id: '3' }]), 1), undefined)
    await prepareDecisions(several, serviceFor('approve', 'mara', several)).start()
    assert.equal(readDraft(placeOf('approve', several), 1), undefined)
  })

  it('shows that counting is tried again while there is no answer', async () => {
    approval = () => answerWith(204)
    counted = Promise.reject(new Error('no answer'))
    const decisions = prepare()
    const settling = settle(decisions, 'approve', new Map())
    await settled()
    assert.equal(decisions.snapshot.get().steps[0]?.progress.kind, 'retrying')
    counted = undefined
    decisions.stop()
    await settling
    assert.deepEqual(decisions.snapshot.get().steps[0]?.progress, { kind: 'decided', missing: undefined })
  })

  it('changes nothing for the next person if its person has left in the meantime', async () => {
    const { promise, resolve } = Promise.withResolvers<Response>()
    approval = () => promise
    const telling = settle(prepare(), 'approve', new Map())
    await isThere(2)
    resolve(answerWith(204))
    assert.equal(await telling, false)
    assert.deepEqual(known(), { status: 0, modifiedBy: null })
    assert.deepEqual(told, [])
  })

  it('that is refused for lack of permission has the permissions read again', async () => {
    approval = () => problemWith(403, 'permission-denied')
    await settle(prepare(), 'approve', new Map())
    assert.deepEqual(known(), { status: 0, modifiedBy: null })
    assert.equal(refreshes, 1)
  })
})

describe('a result that comes after the dialog was closed', () => {
  const decided = (missing: number | undefined) => ({ kind: 'decided', missing }) as const
  const failed = { kind: 'refused', failure: undefined } as const
  const unclear = { kind: 'unclear', failure: undefined } as const
  for (const [words, ...ends] of [
    [/^Order for .*Acme.* approved$/, decided(0)],
    [/^Order for .*Acme.* approved by you, 1 more approval needed$/, decided(1)],
    [/^Order for .*Acme.* not approved$/, failed],
    [/^Order for .*Acme.* may have been approved: there was no clear answer$/, unclear],
    [/^1 of 3 orders approved$/, decided(0), decided(1), failed],
  ] as const) {
    it(`${words}`, () => {
      const steps = ends.map((progress) => ({ subject, progress }))
      assert.match(resultOf('approve', { phase: 'done', steps }), words)
    })
  }
})

describe('the way out of the dialog', () => {
  const first = { ...subject, id: '2' }
  const sending = { subject: first, progress: { kind: 'sending' } } as const
  const waiting = { subject, progress: { kind: 'waiting' } } as const
  const retrying = { subject, progress: { kind: 'retrying', failure: undefined } } as const
  const looks = [
    [
      'leaves an order undecided before the answer',
      { phase: 'asking', steps: [waiting] },
      'Cancel',
      'closed',
    ],
    ['does not stop the request about one order', { phase: 'running', steps: [sending] }, 'Close', 'closed'],
    ['gives up on one order', { phase: 'running', steps: [retrying] }, 'Stop trying', 'stopped'],
    [
      'stops before the next of two orders',
      { phase: 'running', steps: [sending, waiting] },
      'Stop',
      'stopped',
    ],
    ['closes what is over', { phase: 'done', steps: [waiting, waiting] }, 'Close', 'closed'],
  ] as const
  for (const [what, { phase, steps }, name, does] of looks) {
    it(what, () => {
      const done: string[] = []
      const way = backOf({
        phase,
        steps: [...steps],
        action: 'approve',
        touch: undefined,
        start: () => done.push('approved'),
        startInstead: () => done.push('approved'),
        stop: () => done.push('stopped'),
        close: () => done.push('closed'),
      })
      way.go()
      assert.deepEqual([way.name, done], [name, [does]])
    })
  }
})
