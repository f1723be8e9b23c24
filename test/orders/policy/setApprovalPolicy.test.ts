import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, beforeEach, describe, it } from 'node:test'
import { machineOf, newClient, newUser, signIn } from '../../support/accounts.ts'
import type { Answer, Client } from '../../support/client.ts'
import { createdId } from '../../support/orders.ts'
import {
  firstPolicy,
  policyEvents,
  policyRow,
  putPolicy,
  putsPolicyBack,
  storedPolicy,
} from '../../support/policy.ts'
import { assertProblem } from '../../support/problem.ts'
import { addRole } from '../../support/roles.ts'
import { testService } from '../../support/service.ts'

const twoFromThousand = [policyRow(), policyRow({ from: 1_000, approvals: 2, selfApproval: false })]

describe('setApprovalPolicy', () => {
  const service = testService()
  putsPolicyBack(service)
  let admin: Client
  let tag: string
  before(async () => {
    admin = await service.bearer('admin')
  })
  beforeEach(async () => {
    await putPolicy(admin, firstPolicy)
    tag = (await admin.get('/v1/approval-policy')).headers.get('etag') ?? ''
  })

  const put = (rows: unknown, headers: Record<string, string> = { 'if-match': tag }, caller = admin) =>
    caller.send('PUT', '/v1/approval-policy', { rows }, headers)
  const rowsNow = async () => (await admin.get('/v1/approval-policy')).body.rows
  const next = () => `"${Number(tag.slice(1, -1)) + 1}"`

  describe('succeeds', () => {
    it('answers 204 without body and with the next version, which the policy then has', async () => {
      const answer = await put(twoFromThousand)
      assert.deepEqual([answer.status, answer.text], [204, ''])
      assert.equal(answer.headers.get('etag'), next())
      assert.equal(answer.headers.get('cache-control'), 'private, no-cache')
      const now = await admin.get('/v1/approval-policy')
      assert.equal(now.headers.get('etag'), next())
      assert.deepEqual(now.body, { rows: twoFromThousand })
    })

    it('replaces all rows: none of those before is left', async () => {
      await putPolicy(admin, [policyRow(), policyRow({ from: 7 }), policyRow({ from: 8, services: false })])
      await putPolicy(admin, [policyRow({ approvals: 3 })])
      assert.deepEqual(await rowsNow(), [policyRow({ approvals: 3 })])
    })

    it('takes what the contract allows of numbers: digits as text, up to four decimals, the largest total', async () => {
      const rows = [
        { from: '0', approvals: '1', selfApproval: true, services: false },
        { from: '0.0001', approvals: '5', selfApproval: false, services: true },
        { from: 99_999_999_999.9999, approvals: 2, selfApproval: true, services: true },
      ]
      assert.equal((await put(rows)).status, 204)
      assert.deepEqual(await rowsNow(), [
        { from: 0, approvals: 1, selfApproval: true, services: false },
        { from: 0.0001, approvals: 5, selfApproval: false, services: true },
        { from: 99_999_999_999.9999, approvals: 2, selfApproval: true, services: true },
      ])
    })

    it('takes 20 rows', async () => {
      const rows = Array.from({ length: 20 }, (_, index) => policyRow({ from: index }))
      assert.equal((await put(rows)).status, 204)
      assert.deepEqual(await rowsNow(), rows)
    })

    it('ignores members that are none, and never binds them', async () => {
      const answer = await admin.send(
        'PUT',
        '/v1/approval-policy',
        { rows: [{ ...policyRow(), approvals: 4, version: 9, extra: [] }], version: 9 },
        { 'if-match': tag },
      )
      assert.equal(answer.headers.get('etag'), next())
      assert.deepEqual(await rowsNow(), [policyRow({ approvals: 4 })])
    })

    it('works by session, with its antiforgery token', async () => {
      const browser = await service.session('admin')
      assert.equal((await put(twoFromThousand, { 'if-match': tag }, browser)).status, 204)
    })

    it('leaves one event: who, when, where, the version and the rows, totals as decimals', async () => {
      const before = (await policyEvents(service)).length
      await put([policyRow(), policyRow({ from: '1250.5', approvals: 2 })], {
        'if-match': tag,
        'time-zone': 'Asia/Tokyo',
      })
      const [event, ...others] = (await policyEvents(service)).slice(before)
      assert.equal(others.length, 0)
      const { version, by_name, at_time_zone, data, at } = event ?? assert.fail('no event')
      assert.deepEqual([`"${version}"`, by_name, at_time_zone], [next(), 'admin', 'Asia/Tokyo'])
      assert.ok(Math.abs(at - service.now()) < 60_000)
      assert.deepEqual(JSON.parse(data), {
        rows: [
          { approvals: 1, from: '0', selfApproval: true, services: true },
          { approvals: 2, from: '1250.5', selfApproval: true, services: true },
        ],
      })
    })

    it('leaves version and log as they are for the same rows again', async () => {
      await put(twoFromThousand)
      const events = await policyEvents(service)
      const again = await put(twoFromThousand, { 'if-match': next() })
      assert.deepEqual([again.status, again.headers.get('etag')], [204, next()])
      assert.deepEqual(await policyEvents(service), events)
    })
  })

  describe('demands If-Match', () => {
    it('is 428 without one', async () => {
      assertProblem(await put(twoFromThousand, {}), 428, 'precondition-required')
      assert.deepEqual(await rowsNow(), firstPolicy)
    })

    for (const wrong of ['"999"', '""', 'x', 'W/"999"', '"1", "2x"', '']) {
      it(`is 412 with the current version for If-Match: ${wrong}`, async () => {
        const answer = await put(twoFromThousand, { 'if-match': wrong })
        assertProblem(answer, 412, 'precondition-failed')
        assert.equal(answer.headers.get('etag'), tag)
        assert.deepEqual(await rowsNow(), firstPolicy)
      })
    }

    for (const right of ['*', 'W/TAG', '"998", TAG']) {
      it(`replaces with If-Match: ${right}`, async () => {
        assert.equal((await put(twoFromThousand, { 'if-match': right.replace('TAG', tag) })).status, 204)
        assert.deepEqual(await rowsNow(), twoFromThousand)
      })
    }
  })

  describe('rejects input', () => {
    const row = policyRow()
    const cases: [what: string, rows: unknown, places: Record<string, string>][] = [
      ['no rows', [], { '#/rows': 'length' }],
      ['21 rows', Array.from({ length: 21 }, (_, from) => ({ ...row, from })), { '#/rows': 'length' }],
      ['rows that are no list', { 0: row }, { '#/rows': 'type' }],
      ['rows null', null, { '#/rows': 'type' }],
      ['a row that is no object', [row, 7], { '#/rows/1': 'type' }],
      ['a row that is a list', [[row]], { '#/rows/0': 'type' }],
      ['a first row not from 0', [{ ...row, from: 1 }], { '#/rows/0/from': 'first' }],
      [
        'two rows from the same total',
        [row, { ...row, from: 5 }, { ...row, from: '5.00' }],
        { '#/rows/2/from': 'order' },
      ],
      ['rows that descend', [row, { ...row, from: 5 }, { ...row, from: 4 }], { '#/rows/2/from': 'order' }],
      ['a second row from 0', [row, row], { '#/rows/1/from': 'order' }],
      ['a negative total', [row, { ...row, from: -1 }], { '#/rows/1/from': 'minimum' }],
      ['a total that is too large', [row, { ...row, from: 100_000_000_000 }], { '#/rows/1/from': 'maximum' }],
      ['a total with five decimals', [row, { ...row, from: '1.00001' }], { '#/rows/1/from': 'decimals' }],
      ['a total with an exponent', [row, { ...row, from: '1e3' }], { '#/rows/1/from': 'format' }],
      ['no approvals', [{ ...row, approvals: 0 }], { '#/rows/0/approvals': 'minimum' }],
      ['six approvals', [{ ...row, approvals: 6 }], { '#/rows/0/approvals': 'maximum' }],
      ['half an approval', [{ ...row, approvals: 1.5 }], { '#/rows/0/approvals': 'type' }],
      ['a truth value as text', [{ ...row, services: 'false' }], { '#/rows/0/services': 'type' }],
      ['a truth value as a number', [{ ...row, selfApproval: 0 }], { '#/rows/0/selfApproval': 'type' }],
      [
        'a row without members',
        [{}],
        {
          '#/rows/0/from': 'required',
          '#/rows/0/approvals': 'required',
          '#/rows/0/selfApproval': 'required',
          '#/rows/0/services': 'required',
        },
      ],
      [
        'faults in and between rows, all at once',
        [
          { ...row, approvals: 9 },
          { ...row, from: 3 },
          { ...row, from: 2, services: 1 },
        ],
        { '#/rows/0/approvals': 'maximum', '#/rows/2/services': 'type', '#/rows/2/from': 'order' },
      ],
    ]
    for (const [what, rows, places] of cases) {
      it(`refuses ${what}, and says where`, async () => {
        const answer = await put(rows)
        assertProblem(answer, 400, 'validation-failed')
        const named = answer.body.errors.map(({ pointer, code }: Record<string, string>) => [pointer, code])
        assert.deepEqual(Object.fromEntries(named), places)
        assert.equal(named.length, Object.keys(places).length)
        assert.deepEqual(await rowsNow(), firstPolicy)
      })
    }

    it('names the rows when they are missing, and the body when it is no object', async () => {
      for (const [body, pointer] of [
        [{}, '#/rows'],
        [[], '#'],
        [null, '#'],
      ]) {
        const headers = { 'if-match': tag }
        const answer = await admin.send('PUT', '/v1/approval-policy', JSON.stringify(body), headers)
        assertProblem(answer, 400, 'validation-failed')
        assert.deepEqual(answer.body.errors[0].pointer, pointer)
      }
    })

    it('is 400 for faulty rows and headers before it asks for If-Match', async () => {
      assertProblem(await put([], {}), 400, 'validation-failed')
      assertProblem(await put(twoFromThousand, { 'time-zone': 'Mars/Base' }), 400, 'invalid-time-zone')
      const key = { 'idempotency-key': '"' }
      assertProblem(await put(twoFromThousand, key), 400, 'invalid-idempotency-key')
    })
  })

  describe('requires access', () => {
    it('is 403 for a service, even with a role that holds the permission', async () => {
      const role = await addRole(service, `Rules-${randomUUID().slice(0, 8)}`, [
        'Policy.Manage',
        'Orders.Read',
      ])
      const roles = [role, 'Admin']
      const machine = await newClient(service, roles)
      const caller = await machineOf(service, machine)
      assert.equal((await caller.get('/v1/approval-policy')).status, 200)
      assertProblem(await put(twoFromThousand, { 'if-match': tag }, caller), 403, 'permission-denied')
      const person = await signIn(service, await newUser(service, { roles }))
      assert.equal((await put(twoFromThousand, { 'if-match': tag }, person)).status, 204)
    })
  })

  describe('takes an Idempotency-Key', () => {
    it('replays the first answer, also when the policy has changed since', async () => {
      const headers = { 'if-match': tag, 'idempotency-key': randomUUID() }
      const first = await put(twoFromThousand, headers)
      await putPolicy(admin, firstPolicy)
      const again = await put(twoFromThousand, headers)
      assert.deepEqual([again.status, again.headers.get('etag')], [204, first.headers.get('etag')])
      assert.equal(again.headers.get('idempotency-replayed'), 'true')
      assert.deepEqual(await rowsNow(), firstPolicy)
    })

    it('is 422 for other rows, or another If-Match', async () => {
      const headers = { 'if-match': tag, 'idempotency-key': randomUUID() }
      await put(twoFromThousand, headers)
      assertProblem(await put(firstPolicy, headers), 422, 'idempotency-key-reused')
      const other = await put(twoFromThousand, { ...headers, 'if-match': next() })
      assertProblem(other, 422, 'idempotency-key-reused')
    })
  })

  describe('conflicts', () => {
    const others = (answers: Answer[]) => answers.filter(({ status }) => status !== 204)

    it('of 20 at once with one version exactly one is 204; the others are 412, and its rows stand', async () => {
      const candidates = Array.from({ length: 20 }, (_, index) => [
        policyRow(),
        policyRow({ from: index + 1 }),
      ])
      const answers = await Promise.all(candidates.map((rows) => put(rows)))
      const winner = answers.findIndex(({ status }) => status === 204)
      assert.equal(others(answers).length, 19)
      for (const answer of others(answers)) {
        assertProblem(answer, 412, 'precondition-failed')
        assert.equal(answer.headers.get('etag'), next())
      }
      assert.deepEqual(await rowsNow(), candidates[winner])
    })

    it('of 20 at once for any version each wins whole or is 409, and the rows are those of one of them', async () => {
      const candidates = Array.from({ length: 20 }, (_, index) => [
        policyRow(),
        policyRow({ from: index + 1 }),
      ])
      const before = (await policyEvents(service)).length
      const answers = await Promise.all(candidates.map((rows) => put(rows, { 'if-match': '*' })))
      for (const answer of others(answers)) assertProblem(answer, 409, 'concurrency-conflict')
      const won = candidates.filter((_, index) => answers[index]?.status === 204)
      const now = await rowsNow()
      assert.ok(won.some((rows) => JSON.stringify(rows) === JSON.stringify(now)))
      const events = (await policyEvents(service)).slice(before)
      const versions = events.map(({ version }) => `"${version}"`)
      assert.deepEqual(
        versions.toSorted(),
        answers.flatMap(({ status, headers }) => (status === 204 ? [headers.get('etag')] : [])).toSorted(),
      )
      assert.equal(new Set(versions).size, won.length)
    })

    it('lets every create of the same moment have the old policy or the new one', async () => {
      const orders = Promise.all(Array.from({ length: 30 }, () => createdId(admin, { total: 5_000 })))
      const changes = Promise.all(
        [2, 3, 4].map((approvals) => put([policyRow({ approvals })], { 'if-match': '*' })),
      )
      const [ids] = await Promise.all([orders, changes])
      for (const id of ids) {
        const { body } = await admin.get(`/v1/orders/${id}/approvals`)
        assert.ok([1, 2, 3, 4].includes(body.required))
      }
    })
  })

  describe('leaves no trace on failure', () => {
    it('a refused change writes neither rows nor event nor key', async () => {
      const state = await storedPolicy(service)
      const key = { 'idempotency-key': randomUUID() }
      await put(twoFromThousand, { ...key, 'if-match': '"999"' })
      await put(twoFromThousand, key)
      await put([policyRow({ from: 4 })], { ...key, 'if-match': tag })
      await put(twoFromThousand, { ...key, 'if-match': tag }, await service.bearer('viewer'))
      assert.deepEqual(await storedPolicy(service), state)
    })
  })
})
