import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { answerWith, goOffline, serviceIs } from '../../support/page.ts'
import { drawn, drawnAgain, jsx } from '../drawing.ts'

const { queries } = await import('../../../web/src/api/queries.ts')
const { absenceQuery } = await import('../../../web/src/auth/absence.ts')
const { endSession, loadSession } = await import('../../../web/src/auth/session.ts')
const { useChoices } = await import('../../../web/src/orders/decide/possible.ts')
const { deselect, useSelection } = await import('../../../web/src/orders/decide/selection.ts')
const { hold, outbox } = await import('../../../web/src/orders/decide/sending.ts')
const { approvalsQuery } = await import('../../../web/src/orders/queries.ts')

const order = {
  id: 'a',
  customer: 'Acme',
  total: 1,
  createdAtUtc: '2026-11-20T09:30:00.000Z',
  status: 0 as const,
}
const both = ['Orders.Approve', 'Orders.Create']

/** Calls hooks. */
function Probe({ run }: { run(): void }) {
  run()
  return null
}

describe('a person', () => {
  let permissions: string[] = both
  serviceIs((path) =>
    path === '/v1/auth/me'
      ? answerWith(200, { id: 1, userName: 'mara', roles: [] })
      : answerWith(200, { permissions, token: 't' }),
  )
  beforeEach(() => loadSession())
  afterEach(() => {
    queries.clear()
    outbox.clear()
    goOffline(false)
  })

  const known = { required: 1, given: [], mayApprove: true, passkey: true }
  const own = [{ kind: 'created', byId: 1 }]
  const pending = { etag: '"3"', order, documents: [] }
  for (const [shown, events, approvals, may, approve, withdraw] of [
    [undefined, own, known, both, 'The order is still loading.', 'The order is still loading.'],
    [pending, undefined, known, both, 'The order is still loading.', 'The order is still loading.'],
    [pending, own, undefined, both, 'The order is still loading.', 'The order is still loading.'],
    [pending, own, known, both, undefined, undefined],
    [
      pending,
      [{ kind: 'created', byId: 2 }],
      known,
      both,
      undefined,
      'Only the creator can withdraw an order.',
    ],
    [
      pending,
      [{ kind: 'approved', byId: 1 }],
      known,
      both,
      undefined,
      'Only the creator can withdraw an order.',
    ],
    [
      pending,
      own,
      { ...known, mayApprove: false },
      both,
      'Needs one approval. You cannot approve it.',
      undefined,
    ],
    [pending, own, known, ['Orders.Create'], 'Your role does not let you approve orders.', undefined],
    [pending, own, known, ['Orders.Approve'], undefined, 'Your role does not let you withdraw orders.'],
    [
      { ...pending, order: { ...order, status: 1 } },
      own,
      known,
      both,
      'This order is approved.',
      'This order is approved.',
    ],
  ] as const) {
    it(`may approve: ${approve ?? 'yes'} And withdraw: ${withdraw ?? 'yes'}`, async () => {
      permissions = [...may]
      await loadSession()
      queries.setQueryData(absenceQuery.queryKey, { standingInFor: [] } as never)
      if (approvals) queries.setQueryData(approvalsQuery('a').queryKey, approvals as never)
      let choices: ReturnType<typeof useChoices> | undefined
      const run = () => {
        choices = useChoices(shown as never, events as never)
      }
      drawn(jsx(Probe, { run }))
      assert.deepEqual([choices?.whyNot('approve'), choices?.whyNot('withdraw')], [approve, withdraw])
      assert.equal(choices?.possible.includes('approve'), approve === undefined)
      assert.equal(choices?.subject?.signedVersion, shown && approvals ? 3 : undefined)
      if (approve !== undefined) return
      hold({ id: 1, userName: 'mara' }, 'approve', order)
      drawnAgain()
      assert.equal(choices?.whyNot('approve'), 'You have already decided this order.')
    })
  }

  it('sees that they are offline before the order is loaded', () => {
    goOffline(true)
    let choices: ReturnType<typeof useChoices> | undefined
    const run = () => {
      choices = useChoices(undefined, undefined)
    }
    drawn(jsx(Probe, { run }))
    assert.equal(choices?.whyNot('approve'), 'You are offline, and this order is not loaded yet.')
  })

  it('chooses orders of one search until they need nothing more, or someone else is there', () => {
    let [filter, orders] = ['', [order, { ...order, id: 'b' }, { ...order, id: 'c' }]]
    let selection: ReturnType<typeof useSelection> | undefined
    const run = () => {
      selection = useSelection(filter, orders)
    }
    const chosen = () => {
      drawnAgain()
      drawnAgain()
      return [...(selection?.chosen.keys() ?? [])].join()
    }
    drawn(jsx(Probe, { run }))
    selection?.choose(orders, true)
    assert.equal(chosen(), 'a,b,c')
    selection?.choose(orders.slice(2), false)
    assert.equal(chosen(), 'a,b')
    deselect(['a'])
    assert.equal(chosen(), 'b')
    filter = 'status=0'
    assert.equal(chosen(), '')
    filter = ''
    assert.equal(chosen(), 'b')
    orders = [{ ...order, id: 'b', status: 1 as never }]
    assert.equal(chosen(), '')
    orders = [order]
    drawnAgain()
    selection?.choose(orders, true)
    assert.equal(chosen(), 'a')
    selection?.clear()
    assert.equal(chosen(), '')
    selection?.choose(orders, true)
    endSession('expired')
    assert.equal(chosen(), '')
  })
})
