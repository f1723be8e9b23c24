import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test'
import type { Subject } from '../../../web/src/orders/decide/decisions.ts'
import type { ActionName } from '../../../web/src/orders/states.ts'
import { answerWith, problemWith, serviceIs, settled, told } from '../../support/page.ts'
import { drawn, drawnAgain, focused, handler, jsx, leave, press, TextArea } from '../drawing.ts'

const { NoAnswerError, ProblemError } = await import('../../../web/src/api/problem.ts')
const { queries } = await import('../../../web/src/api/queries.ts')
const { loadSession } = await import('../../../web/src/auth/session.ts')
const { DecisionDialog } = await import('../../../web/src/orders/decide/dialog/dialog.tsx')
const { DecideOne } = await import('../../../web/src/orders/decide/dialog/one.tsx')
const { DecideSeveral } = await import('../../../web/src/orders/decide/dialog/several.tsx')
const { approvalsQuery, orderQuery } = await import('../../../web/src/orders/queries.ts')
const { silence, toasts } = await import('../../../web/src/ui/announce.ts')
const { formatInstant } = await import('../../../web/src/ui/format.ts')

const createdAtUtc = '2026-11-20T09:30:00.000Z'
const created = formatInstant(createdAtUtc)
const order = {
  id: '1',
  number: 7,
  customer: 'Acme',
  total: 1,
  createdAtUtc,
  status: 0,
  documents: 0,
} as const
const subject = { ...order, etag: '"1"' }
const offer = { name: 'Offer.pdf', sha256: 'a' }
const byAnn = { modifiedBy: 'ann', updatedAtUtc: null }
const otherVersion = (changes: object, documents: object[] = []) =>
  ({ order: { ...subject, ...byAnn, ...changes }, etag: '"2"', documents }) as never

const waiting = { kind: 'waiting' }
const sending = { kind: 'sending' }
const retrying = { kind: 'retrying', failure: new NoAnswerError() }
const unclear = { kind: 'unclear', failure: new NoAnswerError() }
const decided = (missing: number) => ({ kind: 'decided', missing })
function refused(code: string, now?: object) {
  const errors = [{ detail: 'reason is too odd.' }]
  const failure = new ProblemError({ code, status: 409, title: 'Not valid', errors } as never, undefined)
  return { kind: 'refused', failure, ...(now && { now }) }
}

let answer: () => Response | Promise<Response>
let sent: string[] = []
async function serve(path: string, request: Request): Promise<Response> {
  if (path === '/v1/auth/me') return answerWith(200, { id: 1, userName: 'mara', roles: [] })
  const [, id, verb] = /^\/v1\/orders\/(\w+)\/?(approve|reject)?$/.exec(path) ?? []
  if (id === undefined || (verb === undefined && id !== 'decisions')) {
    return answerWith(200, { permissions: ['Orders.Approve'], token: 't', required: 1, given: [{}] })
  }
  sent.push(`${verb} ${id} ${await request.text()}`.trim())
  return answer()
}

type Row = [of: [action: string, phase: string, progress: object, changes?: object], string, string?]

/** The lines of the dialog, and the name of the button or field with the focus. */
function shown(
  View: unknown,
  action: string,
  phase: string,
  steps: { progress: object }[],
): [string, string | undefined] {
  const back = { name: 'Back', go: () => undefined }
  const run = { action, phase, steps }
  const lines = drawn(jsx(View as typeof DecideOne, { run, back, step: steps[0] } as never))
  return [lines.join(' | '), focused]
}

/** The button that decides has the focus. */
const lastOf = (lines: string) => /([^[(]*).$/.exec(lines)?.[1]

const facts = `Customer | Acme | Total | 1.00 | Number and time of creation | #7 · ${created}`
const meaning = 'You approve it in your name. This cannot be undone.'
const asked = `${facts} | ${meaning}`
const unlike = 'What has changed | Before | Now'
const rejecting = 'You reject it in your name, and the reason stays in its history. This cannot be undone.'
const field = 'Reason | Anyone who can see the order can read it.'
const approvedJustNow = { status: 1, modifiedBy: 'mara', updatedAtUtc: createdAtUtc }

describe('the question about one order shows', () => {
  serviceIs(serve)
  before(async () => {
    await loadSession()
    mock.timers.enable({ apis: ['Date'], now: new Date(createdAtUtc) })
    for (const required of [2, 3]) {
      queries.setQueryData(approvalsQuery(`${required}`).queryKey, { required, given: [] } as never)
    }
    queries.setQueryData(orderQuery('4').queryKey, otherVersion({ id: '4', total: 2 }))
  })
  after(() => {
    queries.clear()
    mock.timers.reset()
  })
  for (const [[action, phase, progress, changes], lines, focus] of [
    [['approve', 'asking', waiting], `Approve this order? | ${asked} | [Back] | [Approve]`],
    [
      ['approve', 'asking', waiting, { id: '2', documents: 2, signedVersion: 1 }],
      `Approve this order? | ${facts} · 2 documents | Documents | 2 documents | ${meaning} | Your passkey signs: approve #7, Acme, 1.00, with 2 documents. | It then needs one more approval from someone else. | [Back] | [Approve]`,
    ],
    [
      ['approve', 'asking', waiting, { id: '3', documents: [offer] }],
      `Approve this order? | ${facts} · 1 document | Documents | Offer.pdf | ${meaning} | It then needs 2 more approvals from someone else. | [Back] | [Approve]`,
    ],
    [
      ['approve', 'asking', waiting, { id: '4' }],
      `This order has changed | Changed by ann. | ${unlike} | Total | 1.00 | 2.00 | [Close] | [Approve this version]`,
      'Close',
    ],
    [
      ['reject', 'asking', waiting, { signedVersion: 1 }],
      `Reject this order? | ${rejecting} | Your passkey signs: reject #7, Acme, 1.00. | ${field} | [Back] | [Reject]`,
      '',
    ],
    [
      ['approve', 'running', sending],
      `Approve this order? | ${asked} | Approving … | [Back] | (Approving …)`,
    ],
    [
      ['approve', 'running', retrying],
      `Approve this order? | ${asked} | Approving … | The service is not responding | Trying again automatically. | [Back] | (Approving …)`,
    ],
    [
      ['reject', 'stopping', sending],
      `Reject this order? | ${rejecting} | Reason | read-only | Anyone who can see the order can read it. | Rejecting … | Stopped. Waiting for the last answer. | [Back] | (Rejecting …)`,
      '',
    ],
    [
      ['approve', 'done', unclear],
      `There was no clear answer | ${asked} | The order may have been approved anyway. You can safely try again: nothing happens twice. | [Back] | [Try again]`,
    ],
    [
      ['reject', 'done', refused('order-not-found'), { signedVersion: 1 }],
      'The order was not rejected | It no longer exists. | [Back]',
      'Back',
    ],
    [
      ['reject', 'done', refused('validation-failed')],
      `The order was not rejected | ${field} | Not valid. The reason is too odd. | [Back] | [Reject]`,
      '',
    ],
    [
      ['approve', 'done', refused('x', otherVersion(approvedJustNow))],
      `This order is already approved | Approved by you, just now. | ${unlike} | Status | Pending | Approved | No decision needed. The page shows the order as it is now. | [Close]`,
      'Close',
    ],
    [
      ['approve', 'done', refused('x', otherVersion({ customer: 'Bolt' }, [offer])), { documents: [] }],
      `This order has changed | Changed by ann. | ${unlike} | Customer | Acme | Bolt | Documents | None | Offer.pdf | [Close] | [Approve this version]`,
      'Close',
    ],
    [
      ['approve', 'done', refused('x', otherVersion({ modifiedBy: null }))],
      'This order has another approval | Approval given by someone else. | [Close] | [Approve]',
      'Close',
    ],
  ] as Row[]) {
    it(lines, () => {
      const step = { subject: { ...subject, ...changes }, progress }
      assert.deepEqual(shown(DecideOne, action, phase, [step]), [lines, focus ?? lastOf(lines)])
    })
  }
})

describe('the question about several orders shows', () => {
  serviceIs(serve)
  before(() => loadSession())
  for (const [[action, phase, all], lines, focus] of [
    [
      ['approve', 'asking', [waiting, waiting]],
      'Approve 2 orders? | Value | 2.00 | You approve them in your name. This cannot be undone. | Your passkey signs: approve #1, Acme, 1.00. | Acme1.00#0 | Acme1.00#1 | [Back] | [Approve 2 orders]',
    ],
    [
      ['approve', 'running', [sending, retrying, waiting, { kind: 'held' }, decided(0), decided(1)]],
      'Approving 6 orders | Value | 6.00 | 2 of 6 | 2 of 6 done. | The service is not responding. Trying again automatically. | Acme1.00#0Approving … | Acme1.00#1Trying again … | Acme1.00#2Not sent yet | Acme1.00#3Not sent yet | Acme1.00#4Approved | Acme1.00#5Approved by you, 1 more approval needed | [Back]',
      'Back',
    ],
    [
      ['approve', 'done', [decided(0), decided(1), unclear, refused('order-not-found')]],
      '1 of 4 orders approved | Value that you approved | 2.00 | 1 approved. You approved 1 order. It needs one more approval. 1 not approved by you: the list says why. 1 may have been approved: there was no clear answer. | Acme1.00#1Approved by you, 1 more approval needed | Acme1.00#2There was no clear answer. It may have been approved. | Acme1.00#3It no longer exists. | Acme1.00#0Approved | [Back] | [Try again]',
      'Back',
    ],
    [
      [
        'approve',
        'done',
        [
          refused('self-approval'),
          refused('already-approved-by-you'),
          refused('decision-signature-invalid'),
          refused('x', otherVersion({ status: 3 })),
          refused('x', otherVersion({ status: 1 })),
          waiting,
        ],
      ],
      '0 of 6 orders approved | Value that you approved | 0.00 | 5 not approved by you: the list says why. 1 not sent. | Acme1.00#0You or one of your services created it, so someone else must approve it. | Acme1.00#1You had already approved it. Someone else must approve it as well. | Acme1.00#2The signature no longer fits, because the order changed or five minutes have passed. It was not approved. | Acme1.00#3Withdrawn by ann | Acme1.00#4Already approved by ann | Acme1.00#5Not sent | [Back] | [Try again]',
      'Back',
    ],
    [
      ['reject', 'done', [decided(0), refused('x', otherVersion({ status: 1 }))]],
      '1 of 2 orders rejected | Value that you rejected | 1.00 | 1 rejected. 1 not rejected by you: the list says why. | Acme1.00#1Approved by ann | Acme1.00#0Rejected | [Back]',
      'Back',
    ],
  ] as Row[]) {
    it(lines, () => {
      const steps = (all as object[]).map((progress, at) => ({
        subject: { ...subject, id: `${at}`, number: at, ...(at > 0 && { signedVersion: 1 }) },
        progress,
      }))
      const [now, focusedNow] = shown(DecideSeveral, action, phase, steps)
      assert.deepEqual([now?.replaceAll(` · ${created}`, ''), focusedNow], [lines, focus ?? lastOf(lines)])
    })
  }
})

describe('a decision in the dialog', () => {
  serviceIs(serve)
  const enter = { key: 'Enter', target: new TextArea(), nativeEvent: {}, preventDefault: () => undefined }
  const said = () => toasts.get().map(({ text }) => text)
  let closed: string[][] = []
  const onClose = (result: { decided: string[] }) => closed.push(result.decided)
  const ask = (action: ActionName, ...subjects: Subject[]) =>
    drawn(jsx(DecisionDialog, { action, subjects, onClose }))
  const type = (value: string) => {
    handler('onChange')({ target: { value } })
    return drawnAgain()
  }
  beforeEach(async () => {
    await loadSession()
    answer = () => answerWith(204)
    sent = []
    closed = []
    told.length = 0
    silence()
  })
  afterEach(silence)

  it('is sent once, and closes the dialog', async () => {
    ask('approve', subject)
    press('Approve')
    press('Approve')
    await settled()
    assert.deepEqual([sent, closed, said()], [['approve 1'], [['1']], ['Order #7 approved']])
  })

  it('is not sent without the reason that it needs', async () => {
    ask('reject', subject)
    press('Reject')
    assert.deepEqual([focused, drawnAgain().includes('Enter a reason.')], ['reason', true])
    type('Too dear.')
    handler('onKeyDown')(enter)
    handler('onKeyDown')(enter)
    await settled()
    assert.deepEqual([sent, closed], [['reject 1 {"reason":"Too dear."}'], [['1']]])
  })

  it('has the same reason for several orders, and then a summary', async () => {
    ask('reject', subject, { ...subject, id: '2' })
    type('Too dear.')
    handler('onKeyDown')(enter)
    await settled()
    assert.deepEqual(sent, ['reject 1 {"reason":"Too dear."}', 'reject 2 {"reason":"Too dear."}'])
    assert.deepEqual([drawnAgain()[0], closed, said()], ['2 orders rejected', [], []])
    press('Close')
    assert.deepEqual(closed, [['1', '2']])
  })

  it('leaves the dialog open while an order is not decided', async () => {
    answer = () => problemWith(409, 'self-approval')
    ask('approve', subject)
    press('Approve')
    await settled()
    assert.deepEqual([drawnAgain()[0], closed], ['The order was not approved', []])
    answer = () => (sent.length > 2 ? problemWith(409, 'self-approval') : answerWith(204))
    ask('approve', subject, { ...subject, id: '2' })
    press('Approve 2 orders')
    await settled()
    assert.deepEqual([drawnAgain()[0], closed, said()], ['1 of 2 orders approved', [], []])
  })

  it('is called off by Escape', () => {
    ask('reject', subject)
    handler('onKeyDown')({ key: 'Escape' })
    assert.deepEqual(closed, [[]])
  })

  it('is announced if its dialog is gone, and the next one is not sent', async () => {
    const { promise, resolve } = Promise.withResolvers<Response>()
    answer = () => promise
    ask('approve', ...['1', '2', '3', '4'].map((id) => ({ ...subject, id })))
    press('Approve 4 orders')
    await settled()
    leave()
    resolve(answerWith(204))
    await settled()
    assert.deepEqual([sent.length, closed, said()], [3, [], ['3 of 4 orders approved']])
  })

  /** A rejection with a signature is asked for. Returns the way to answer what is to be signed. */
  async function askToSign() {
    const { promise, resolve } = Promise.withResolvers<Response>()
    answer = () => promise
    ask('reject', { ...subject, signedVersion: 1 })
    type('Too dear.')
    press('Reject')
    await settled()
    return resolve
  }

  it('waits for the touch that signs it, and is not sent without', async () => {
    const resolve = await askToSign()
    assert.ok(drawnAgain().includes('Waiting for your passkey …'))
    resolve(problemWith(422, 'order-not-pending'))
    await settled()
    assert.ok(drawnAgain().includes('order-not-pending'))
    assert.deepEqual([sent.length, told, closed], [1, [{ kind: 'changed' }], []])
    answer = () => (sent.length > 2 ? answerWith(204) : problemWith(403, 'passkey-needed'))
    press('Reject')
    await settled()
    assert.deepEqual([sent.at(-1), closed], ['reject 1 {"reason":"Too dear."}', [['1']]])
  })

  it('is not sent if its dialog is gone before the touch', async () => {
    const resolve = await askToSign()
    leave()
    resolve(problemWith(403, 'passkey-needed'))
    await settled()
    assert.deepEqual([sent.length, closed, said()], [1, [], []])
  })

  it('needs a browser that knows passkeys', async () => {
    ask('approve', { ...subject, signedVersion: 1 })
    press('Approve')
    await settled()
    assert.match(drawnAgain().join(), /Nothing was sent/)
    assert.deepEqual([sent, told], [[], []])
  })
})
