import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, it } from 'node:test'
import { machineOf, newClient, newUser, signIn } from '../../support/accounts.ts'
import type { Answer } from '../../support/client.ts'
import { createdId } from '../../support/orders.ts'
import {
  firstPolicy,
  policyEvents,
  policyRow,
  putPolicy,
  putsPolicyBack,
  storedPolicy,
} from '../../support/policy.ts'
import { assertFaults, assertProblem } from '../../support/problem.ts'
import { addRole } from '../../support/roles.ts'
import { passwordOf, setUp, testService } from '../../support/service.ts'

const twoFromThousand = [policyRow(), policyRow({ from: 1_000, approvals: 2, selfApproval: false })]

describe('setApprovalPolicy', () => {
  const service = testService()
  putsPolicyBack(service)
  const admin = setUp(() => service.bearer('admin'), beforeEach)
  let tag: string
  beforeEach(async () => {
    await putPolicy(service, firstPolicy)
    tag = (await admin.get('/v1/approval-policy')).headers.get('etag') ?? ''
  })

  const put = (rows: unknown, headers: Record<string, string> = { 'if-match': tag }, caller = admin) =>
    caller.send('PUT', '/v1/approval-policy', { rows }, headers)
  const rowsNow = async () => (await admin.get('/v1/approval-policy')).body.rows
  const next = () => `"${Number(tag.slice(1, -1)) + 1}"`

  describe('succeeds', () => {
    it('answers its warnings, with the version that the policy then has', async () => {
      const answer = await put(twoFromThousand)
      assert.equal(answer.status, 200)
      assert.deepEqual(Object.keys(answer.body), ['warnings'])
      assert.equal(answer.headers.get('etag'), next())
      assert.equal(answer.headers.get('cache-control'), 'private, no-cache')
      const now = await admin.get('/v1/approval-policy')
      assert.equal(now.headers.get('etag'), next())
      assert.deepEqual(now.body, { rows: twoFromThousand })
    })

    it('replaces all rows: no previous row is left', async () => {
      await putPolicy(service, [policyRow(), policyRow({ from: 7 }), policyRow({ from: 8, services: false })])
      await putPolicy(service, [policyRow({ approvals: 3 })])
      assert.deepEqual(await rowsNow(), [policyRow({ approvals: 3 })])
    })

    it('accepts every number that the contract allows: digits in a string, four decimals, the largest total', async () => {
      const rows = [
        { from: '0', approvals: '1', selfApproval: true, services: false },
        { from: '0.0001', approvals: '5', selfApproval: false, services: true },
        { from: 99_999_999_999.9999, approvals: 2, selfApproval: true, services: true },
      ]
      assert.equal((await put(rows)).status, 200)
      assert.deepEqual(await rowsNow(), [
        { from: 0, approvals: 1, selfApproval: true, services: false, role: null, passkey: false },
        { from: 0.0001, approvals: 5, selfApproval: false, services: true, role: null, passkey: false },
        {
          from: 99_999_999_999.9999,
          approvals: 2,
          selfApproval: true,
          services: true,
          role: null,
          passkey: false,
        },
      ])
    })

    it('accepts 20 rows', async () => {
      const rows = Array.from({ length: 20 }, (_, index) => policyRow({ from: index }))
      assert.equal((await put(rows)).status, 200)
      assert.deepEqual(await rowsNow(), rows)
    })

    it('works by session, with its antiforgery token', async () => {
      const browser = await service.session('admin')
      assert.equal((await put(twoFromThousand, { 'if-match': tag }, browser)).status, 200)
    })

    it('leaves one event: who, when, where, the version and the rows, totals as decimals', async () => {
      const before = (await policyEvents(service)).length
      await put([policyRow(), policyRow({ from: '1250.5', approvals: 2 })], {
        'if-match': tag,
        'time-zone': 'Asia/Tokyo',
      })
      const [event, ...others] = (await policyEvents(service)).slice(before)
      assert.equal(others.length, 0)
      const { version, by, at_time_zone, data, at } = event ?? assert.fail('no event')
      assert.deepEqual([`"${version}"`, by, at_time_zone], [next(), 'admin', 'Asia/Tokyo'])
      assert.ok(Math.abs(at - service.now()) < 60_000)
      assert.deepEqual(JSON.parse(data), {
        rows: [
          { approvals: 1, from: '0', selfApproval: true, services: true, role: null, passkey: false },
          { approvals: 2, from: '1250.5', selfApproval: true, services: true, role: null, passkey: false },
        ],
      })
    })

    it('leaves version and log unchanged if the rows are the same', async () => {
      await put(twoFromThousand)
      const events = await policyEvents(service)
      const again = await put(twoFromThousand, { 'if-match': next() })
      assert.deepEqual([again.status, again.headers.get('etag')], [200, next()])
      assert.deepEqual(await policyEvents(service), events)
    })
  })

  describe('demands If-Match', () => {
    it('answers 428 without one', async () => {
      assertProblem(await put(twoFromThousand, {}), 428, 'precondition-required')
      assert.deepEqual(await rowsNow(), firstPolicy)
    })

    for (const wrong of ['"999"', '""', 'x', 'W/"999"', '"1", "2x"', '']) {
      it(`answers 412 with the current version for If-Match: ${wrong}`, async () => {
        const answer = await put(twoFromThousand, { 'if-match': wrong })
        assertProblem(answer, 412, 'precondition-failed')
        assert.equal(answer.headers.get('etag'), tag)
        assert.deepEqual(await rowsNow(), firstPolicy)
      })
    }

    for (const right of ['*', 'W/TAG', '"998", TAG']) {
      it(`replaces with If-Match: ${right}`, async () => {
        assert.equal((await put(twoFromThousand, { 'if-match': right.replace('TAG', tag) })).status, 200)
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
      ['a misspelt member', [{ ...row, selfAproval: false }], { '#/rows/0/selfAproval': 'unknown' }],
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
        assertFaults(await put(rows), places)
        assert.deepEqual(await rowsNow(), firstPolicy)
      })
    }

    it('names the rows if they are missing, and the body if it is not an object', async () => {
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

    it('answers 400 to invalid rows and headers before it checks If-Match', async () => {
      assertProblem(await put([], {}), 400, 'validation-failed')
      assertProblem(await put(twoFromThousand, { 'time-zone': 'Mars/Base' }), 400, 'invalid-time-zone')
      const key = { 'idempotency-key': '"' }
      assertProblem(await put(twoFromThousand, key), 400, 'invalid-idempotency-key')
    })
  })

  it('needs a sign-in of the last five minutes, by session or bearer, and changes nothing without', async () => {
    const browser = await service.session('admin')
    service.advance(5 * 60_000)
    const before = await storedPolicy(service)
    for (const caller of [admin, browser]) {
      const late = await put(twoFromThousand, { 'if-match': tag, 'idempotency-key': randomUUID() }, caller)
      assertProblem(late, 403, 'recent-sign-in-needed')
    }
    assert.deepEqual(await storedPolicy(service), before)
    const { password } = passwordOf('admin')
    assert.equal((await browser.post('/v1/auth/session/confirm', { password })).status, 204)
    assert.equal((await put(twoFromThousand, { 'if-match': tag }, browser)).status, 200)
    assert.equal((await put(firstPolicy, { 'if-match': '*' }, await service.bearer('admin'))).status, 200)
  })

  it('answers 403 to a service, even with a role that holds the permission', async () => {
    const role = await addRole(service, `Rules-${randomUUID().slice(0, 8)}`, ['Policy.Manage', 'Orders.Read'])
    const roles = [role, 'Admin']
    const machine = await newClient(service, roles)
    const caller = await machineOf(service, machine)
    assert.equal((await caller.get('/v1/approval-policy')).status, 200)
    assertProblem(await put(twoFromThousand, { 'if-match': tag }, caller), 403, 'permission-denied')
    const person = await signIn(service, await newUser(service, { roles }))
    assert.equal((await put(twoFromThousand, { 'if-match': tag }, person)).status, 200)
  })

  describe('honours Idempotency-Key', () => {
    it('replays the first answer, even if the policy has changed since', async () => {
      const headers = { 'if-match': tag, 'idempotency-key': randomUUID() }
      const first = await put(twoFromThousand, headers)
      await putPolicy(service, firstPolicy)
      const again = await put(twoFromThousand, headers)
      assert.deepEqual([again.status, again.headers.get('etag')], [200, first.headers.get('etag')])
      assert.equal(again.text, first.text)
      assert.equal(again.headers.get('idempotency-replayed'), 'true')
      assert.deepEqual(await rowsNow(), firstPolicy)
    })

    it('answers 422 for other rows, or another If-Match', async () => {
      const headers = { 'if-match': tag, 'idempotency-key': randomUUID() }
      await put(twoFromThousand, headers)
      assertProblem(await put(firstPolicy, headers), 422, 'idempotency-key-reused')
      const other = await put(twoFromThousand, { ...headers, 'if-match': next() })
      assertProblem(other, 422, 'idempotency-key-reused')
    })
  })

  describe('conflicts', () => {
    const others = (answers: Answer[]) => answers.filter(({ status }) => status !== 200)

    it('accepts exactly one of 20 simultaneous changes of one version, and answers 412 to the others', async () => {
      const candidates = Array.from({ length: 20 }, (_, index) => [
        policyRow(),
        policyRow({ from: index + 1 }),
      ])
      const answers = await Promise.all(candidates.map((rows) => put(rows)))
      const winner = answers.findIndex(({ status }) => status === 200)
      assert.equal(others(answers).length, 19)
      for (const answer of others(answers)) {
        assertProblem(answer, 412, 'precondition-failed')
        assert.equal(answer.headers.get('etag'), next())
      }
      assert.deepEqual(await rowsNow(), candidates[winner])
    })

    it('applies each of 20 simultaneous changes of any version as a whole or answers 409, leaving the rows of one', async () => {
      const candidates = Array.from({ length: 20 }, (_, index) => [
        policyRow(),
        policyRow({ from: index + 1 }),
      ])
      const before = (await policyEvents(service)).length
      const answers = await Promise.all(candidates.map((rows) => put(rows, { 'if-match': '*' })))
      const won = candidates.filter((_, index) => answers[index]?.status === 200)
      const now = await rowsNow()
      assert.ok(won.some((rows) => JSON.stringify(rows) === JSON.stringify(now)))
      const events = (await policyEvents(service)).slice(before)
      const versions = events.map(({ version }) => `"${version}"`)
      assert.deepEqual(
        versions.toSorted(),
        answers.flatMap(({ status, headers }) => (status === 200 ? [headers.get('etag')] : [])).toSorted(),
      )
      assert.equal(new Set(versions).size, won.length)
      for (const answer of others(answers)) {
        assertProblem(answer, 409, 'concurrency-conflict')
        assert.ok(versions.includes(answer.headers.get('etag') ?? ''))
      }
    })

    it('gives every simultaneous create the old policy or the new one', async () => {
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

  it('writes neither rows nor event nor key when it is refused', async () => {
    const state = await storedPolicy(service)
    const key = { 'idempotency-key': randomUUID() }
    await put(twoFromThousand, { ...key, 'if-match': '"999"' })
    await put(twoFromThousand, key)
    await put([policyRow({ from: 4 })], { ...key, 'if-match': tag })
    await put(twoFromThousand, { ...key, 'if-match': tag }, await service.bearer('viewer'))
    assert.deepEqual(await storedPolicy(service), state)
  })
})
