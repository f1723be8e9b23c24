import '../../support/page.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Problem, ProblemError } from '../../../web/src/api/problem.ts'
import { prepareDecisions, type Service, type Subject } from '../../../web/src/orders/decide/decisions.ts'
import { summaryOf, whyNot } from '../../../web/src/orders/decide/words.ts'
import type { OrderDocument, VersionedOrder } from '../../../web/src/orders/order.ts'

const createdAtUtc = '2026-11-20T09:30:00.000Z'
const subjectsOf = (count: number): Subject[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `order-${index}`,
    customer: `Customer ${index}`,
    total: 1,
    createdAtUtc,
    status: 0,
    documents: 0,
    etag: '"1"',
  }))

function refusal(code: Problem['code'], status: number): ProblemError {
  const problem = { type: '', title: code, detail: '', instance: '', requestId: '', code, status } as Problem
  return new ProblemError(problem, undefined)
}

const now = {
  order: { id: 'order-0', customer: 'Customer 0', total: 1, status: 1, modifiedBy: 'mara' },
  etag: '"2"',
  documents: [] as readonly OrderDocument[],
} as VersionedOrder

interface Script {
  /** The failures of the tries of an order, in turn; then it succeeds. */
  failures?: Record<string, unknown[]>
  read?: Service['read']
  missing?: Service['missing']
}

/** A service that answers by a script and records its requests. */
function scripted({ failures = {}, read = async () => now, missing = async () => 0 }: Script = {}) {
  const sent: { id: string; idempotencyKey: string; etag?: string; signature?: string }[] = []
  let underWay = 0
  const seen = { sent, mostUnderWay: 0 }
  const service: Service = {
    async decide({ id, idempotencyKey, etag, signature }) {
      sent.push({ id, idempotencyKey, ...(etag && { etag }), ...(signature && { signature }) })
      underWay += 1
      seen.mostUnderWay = Math.max(seen.mostUnderWay, underWay)
      await new Promise(setImmediate)
      underWay -= 1
      const failure = failures[id]?.shift()
      if (failure !== undefined) throw failure
    },
    missing,
    read,
  }
  return { service, seen }
}

async function run(count: number, script?: Script) {
  const { service, seen } = scripted(script)
  const decisions = prepareDecisions(subjectsOf(count), service)
  await decisions.start()
  const { phase, steps } = decisions.snapshot.get()
  assert.equal(phase, 'done')
  return {
    decisions,
    seen,
    progress: steps.map((step) => step.progress),
    summary: summaryOf(steps, 'approve'),
    why: steps.map(({ progress }) => whyNot(progress, 'approve')),
  }
}

const kindsOf = (progress: readonly { kind: string }[]) => progress.map(({ kind }) => kind).join(' ')

describe('prepareDecisions succeeds', () => {
  it('sends nothing before it is started', () => {
    const { service, seen } = scripted()
    assert.equal(prepareDecisions(subjectsOf(2), service).snapshot.get().phase, 'asking')
    assert.deepEqual(seen.sent, [])
  })

  it('approves each once, at most three at a time', async () => {
    const { seen, summary } = await run(100)
    assert.equal(summary, '100 approved.')
    assert.equal(new Set(seen.sent.map(({ id }) => id)).size, 100)
    assert.equal(seen.sent.length, 100)
    assert.equal(seen.mostUnderWay, 3)
  })

  it('sends the version that was shown', async () => {
    const { service, seen } = scripted()
    await prepareDecisions(
      [{ id: 'a', customer: 'A', total: 1, createdAtUtc, status: 0, etag: '"1"' }],
      service,
    ).start()
    assert.deepEqual(
      seen.sent.map(({ id, etag }) => [id, etag]),
      [['a', '"1"']],
    )
  })

  it('starts once, however often it is asked', async () => {
    const { service, seen } = scripted()
    const decisions = prepareDecisions(subjectsOf(5), service)
    await Promise.all([decisions.start(), decisions.start()])
    assert.equal(seen.sent.length, 5)
  })
})

describe('prepareDecisions counts', () => {
  it('how many more an order needs, each after its own approval', async () => {
    const { summary } = await run(3, { missing: async (id) => (id === 'order-1' ? 2 : 0) })
    assert.equal(summary, '2 approved. You approved 1 order. It needs 2 more approvals.')
  })

  it('nothing if that cannot be read: the order stays approved', async () => {
    const missing = () => Promise.reject(refusal('internal-error', 500))
    const { seen, progress } = await run(1, { missing })
    assert.deepEqual(progress, [{ kind: 'decided', missing: undefined }])
    assert.equal(seen.sent.length, 1)
  })
})

describe('prepareDecisions tries again', () => {
  it('every decision without a final result, under its key, when it is started again', async () => {
    const failures = {
      'order-0': [refusal('internal-error', 500)],
      'order-1': [refusal('order-not-found', 404)],
    }
    const { decisions, seen, summary } = await run(3, { failures })
    assert.equal(
      summary,
      '1 approved. 1 not approved by you: the list says why. 1 may have been approved: there was no clear answer.',
    )
    await decisions.start()
    assert.equal(
      kindsOf(decisions.snapshot.get().steps.map(({ progress }) => progress)),
      'decided refused decided',
    )
    assert.deepEqual(
      seen.sent.map(({ id }) => id),
      ['order-0', 'order-1', 'order-2', 'order-0'],
    )
    assert.equal(seen.sent[3]?.idempotencyKey, seen.sent[0]?.idempotencyKey)
  })

  const signed = { etag: '"1"', signedVersion: 1 }
  const subject: Subject = { id: 'a', customer: 'A', total: 1, createdAtUtc, status: 0, ...signed }

  it('under the signature that it has after no clear answer', async () => {
    const { service, seen } = scripted({ failures: { a: [refusal('internal-error', 500)] } })
    const decisions = prepareDecisions([subject], service)
    await decisions.start(new Map([['a', { signature: 'first' }]]))
    assert.deepEqual(decisions.toSign(), [])
    await decisions.start(new Map())
    const requests = seen.sent.map(({ signature, idempotencyKey }) => `${signature} ${idempotencyKey}`)
    assert.deepEqual([requests.length, new Set(requests).size], [2, 1])
  })

  it('with a new signature, which is another request, if the first one no longer fits', async () => {
    const failures = { a: [refusal('decision-signature-invalid', 400)] }
    const { service, seen } = scripted({ failures })
    const decisions = prepareDecisions([subject], service)
    for (const signature of ['first', 'second']) {
      assert.equal(decisions.toSign().length, 1)
      await decisions.start(new Map([['a', { signature }]]))
    }
    assert.equal(decisions.toSign().length, 0)
    assert.deepEqual(
      seen.sent.map(({ signature }) => signature),
      ['first', 'second'],
    )
    assert.notEqual(seen.sent[0]?.idempotencyKey, seen.sent[1]?.idempotencyKey)
    assert.equal(subject.signature, undefined)
  })
})

describe('prepareDecisions when someone else is faster', () => {
  const found = (status: number) => async () =>
    ({ ...now, order: { ...now.order, status } }) as VersionedOrder
  const pending = { ...now, order: { ...now.order, status: 0 }, documents: [] } as VersionedOrder
  const dearer = async () => ({ ...pending, order: { ...pending.order, total: 2 } })
  const offer = { name: 'Offer.pdf', sha256: 'a' } as OrderDocument
  const withDocument = async () => ({ ...pending, documents: [offer] })
  const gone = () => Promise.reject(refusal('order-not-found', 404))
  const cases: [code: Problem['code'], status: number, read: Service['read'], words: string][] = [
    ['precondition-failed', 412, found(1), 'It was already approved.'],
    ['order-not-pending', 409, found(1), 'It was already approved.'],
    ['concurrency-conflict', 409, found(1), 'It was already approved.'],
    ['order-not-pending', 409, found(2), 'It was rejected in the meantime.'],
    ['order-not-pending', 409, found(3), 'It was withdrawn in the meantime.'],
    ['concurrency-conflict', 409, found(0), 'It has changed and was not approved.'],
    ['precondition-failed', 412, dearer, 'It has changed and was not approved.'],
    ['precondition-failed', 412, withDocument, 'It has changed and was not approved.'],
    ['precondition-failed', 412, gone, 'It no longer exists.'],
  ]
  for (const [code, status, read, words] of cases) {
    it(`reads the current order after ${code}, and says what became of it: ${words}`, async () => {
      const failures = { 'order-0': [refusal(code, status)] }
      const { progress, why } = await run(1, { failures, read })
      assert.deepEqual([kindsOf(progress), ...why], ['refused', words])
    })
  }
})

describe('a decision about another version in which nothing that was shown is different', () => {
  const pending = { ...now, order: { ...now.order, status: 0 }, documents: [] } as VersionedOrder
  const refused = () => ({ 'order-0': [refusal('precondition-failed', 412)] })
  async function decided(subject: Partial<Subject>, failures = refused()) {
    const { service, seen } = scripted({ failures, read: async () => pending })
    const whole = subjectsOf(1).map((each) => ({ ...each, etag: '"1"', documents: 0, ...subject }))
    const decisions = prepareDecisions(whole, service)
    await decisions.start()
    return { tags: seen.sent.map(({ etag }) => etag), kind: decisions.snapshot.get().steps[0]?.progress.kind }
  }

  it('is sent again with the new tag, under the same key', async () => {
    assert.deepEqual(await decided({}), { tags: ['"1"', '"2"'], kind: 'decided' })
  })

  it('is asked again if the person counted documents, or a passkey signed the old version', async () => {
    assert.deepEqual(await decided({ documents: 1 }), { tags: ['"1"'], kind: 'refused' })
    assert.deepEqual(await decided({ signature: 'x' }), { tags: ['"1"'], kind: 'refused' })
  })

  it('is not sent again with a tag that was refused', async () => {
    assert.deepEqual(await decided({ etag: '"2"' }), { tags: ['"2"'], kind: 'refused' })
  })
})

describe('prepareDecisions stops', () => {
  for (const [code, status] of [
    ['permission-denied', 403],
    ['authentication-required', 401],
  ] as const) {
    it(`by itself after ${code}`, async () => {
      const { seen, progress } = await run(50, { failures: { 'order-0': [refusal(code, status)] } })
      assert.ok(seen.sent.length <= 4)
      assert.equal(progress.at(-1)?.kind, 'waiting')
    })
  }
})
