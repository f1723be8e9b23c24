import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { QueryObserver } from '@tanstack/react-query'
import { answerWith, problemWith, serviceIs, told } from '../../support/page.ts'

const { queries } = await import('../../../web/src/api/queries.ts')
const { policyQuery } = await import('../../../web/src/orders/queries.ts')
const { savePolicy } = await import('../../../web/src/policy/queries.ts')
const { isOutdated } = await import('../../../web/src/ui/describe.ts')
const { dropDraft } = await import('../../../web/src/ui/draft.ts')

const rule = { selfApproval: true, services: true, role: null, passkey: false }
const one = [{ from: '0', approvals: 1, ...rule }]
const two = [
  { from: '0', approvals: 1, ...rule },
  { from: '1000.5', approvals: 2, ...rule },
]

describe('saving the policy', () => {
  let version = 1
  let sent: { key: string | null; etag: string | null; rows: unknown }[] = []
  let refuses: (() => Response) | undefined
  serviceIs(async (path, request) => {
    if (path === '/v1/auth/csrf') return answerWith(200, { token: 'token' })
    const etag = { etag: `"${version}"` }
    if (request.method === 'GET') return answerWith(200, { rows: [{ ...one[0], from: 0 }] }, etag)
    const { headers } = request
    const { rows } = (await request.json()) as { rows: unknown }
    sent.push({ key: headers.get('idempotency-key'), etag: headers.get('if-match'), rows })
    if (refuses) return refuses()
    version += 1
    return answerWith(200, { warnings: [] }, { etag: `"${version}"` })
  })
  beforeEach(() => {
    version = 1
    sent = []
    refuses = undefined
    told.length = 0
    queries.clear()
    dropDraft('policy')
  })

  it('sends it with the version that the person saw, and the other tabs hear of it', async () => {
    const saved = await savePolicy(1, two, '"1"')
    const rows = two.map((row) => ({ ...row, from: Number(row.from) }))
    assert.deepEqual(saved, { rows, etag: '"2"' })
    assert.deepEqual([sent[0]?.rows, sent[0]?.etag], [two, '"1"'])
    assert.deepEqual(told, [{ kind: 'changed' }])
  })

  it('replaces what came between when an earlier policy is saved again: each is a new change', async () => {
    let etag = '"1"'
    for (const rows of [one, two, one]) ({ etag } = await savePolicy(1, rows, etag))
    assert.equal(new Set(sent.map(({ key }) => key)).size, 3)
    assert.deepEqual(
      sent.map((each) => each.etag),
      ['"1"', '"2"', '"3"'],
    )
  })

  it('is the same change, however often it is tried', async () => {
    refuses = () => problemWith(503, 'database-unavailable')
    await assert.rejects(savePolicy(1, two, '"1"'))
    refuses = undefined
    await savePolicy(1, two, '"1"')
    assert.equal(sent[0]?.key, sent[1]?.key)
  })

  for (const [status, code] of [
    [412, 'precondition-failed'],
    [409, 'concurrency-conflict'],
  ] as const) {
    it(`shows what someone else has saved, before it reports ${code}`, async () => {
      queries.setQueryData(policyQuery.queryKey, { rows: [], etag: '"1"' })
      const leave = new QueryObserver(queries, policyQuery).subscribe(() => undefined)
      version = 5
      refuses = () => problemWith(status, code)
      await assert.rejects(savePolicy(1, two, '"1"'), isOutdated)
      assert.equal(queries.getQueryData(policyQuery.queryKey)?.etag, '"5"')
      assert.deepEqual(told, [])
      leave()
    })
  }
})
