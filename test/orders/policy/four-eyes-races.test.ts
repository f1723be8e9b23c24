// engine: both
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, it } from 'node:test'
import type { Answer, Client } from '../../support/client.ts'
import { createdId } from '../../support/orders.ts'
import {
  approvalState,
  approve,
  newApprovers,
  policyRow,
  putPolicy,
  putsPolicyBack,
} from '../../support/policy.ts'
import { assertProblem } from '../../support/problem.ts'
import { setUp, testService } from '../../support/service.ts'

/** All requests are in progress before the first of them is answered. */
describe('approvals of one order at once', () => {
  const service = testService()
  putsPolicyBack(service)
  const admin = setUp(() => service.bearer('admin'))
  const operator = setUp(() => service.bearer('operator'))
  let people: Awaited<ReturnType<typeof newApprovers>>
  before(async () => {
    people = await newApprovers(service, 50)
  })

  async function orderNeeding(approvals: number, creator = operator): Promise<string> {
    await putPolicy(service, [policyRow({ approvals, selfApproval: false })])
    return createdId(creator)
  }

  /** One approval by each of the callers. */
  const atOnce = (
    callers: Client[],
    id: string,
    headers: (index: number) => Record<string, string> = () => ({}),
  ) => Promise.all(callers.map((caller, index) => approve(caller, id, headers(index))))
  const callers = (count: number) => people.slice(0, count).map(({ caller }) => caller)
  const given = (answers: Answer[]) => answers.filter(({ status }) => status === 204)
  const refused = (answers: Answer[]) => answers.filter(({ status }) => status !== 204)

  /**
   * Asserts that counter, rows, events and versions agree on the number of approvals, each by a different
   * person.
   */
  async function assertGiven(id: string, count: number) {
    const { status, version, approvals_needed: needed, ...state } = await approvalState(service, id)
    assert.deepEqual([state.approvals_given, version, status], [count, count + 1, count === needed ? 1 : 0])
    assert.equal(new Set(state.approvers).size, count)
    assert.deepEqual(
      state.events.map((event) => [event.kind, event.version]),
      Array.from({ length: count }, (_, index) => [
        index + 1 === needed ? 'approved' : 'approval-given',
        index + 2,
      ]),
    )
    assert.deepEqual(state.events.map(({ by_id }) => Number(by_id)).toSorted(compare), state.approvers)
    const { body } = await admin.get(`/v1/orders/${id}/approvals`)
    assert.deepEqual([body.required, body.given.length], [needed, count])
  }
  const compare = (one: number, other: number) => one - other

  for (const needed of [1, 2, 3, 5]) {
    it(`are accepted from exactly ${needed} of 50 people if ${needed} are needed, and the others learn that the order is decided`, async () => {
      const id = await orderNeeding(needed)
      const answers = await atOnce(callers(50), id)
      assert.equal(given(answers).length, needed)
      for (const answer of refused(answers)) assertProblem(answer, 409, 'order-not-pending')
      const tags = given(answers).map(({ headers }) => headers.get('etag'))
      assert.deepEqual(
        tags.toSorted(),
        Array.from({ length: needed }, (_, index) => `"${index + 2}"`),
      )
      await assertGiven(id, needed)
    })
  }

  it('from one person, 50 times, count once, whether more are needed or not', async () => {
    for (const [needed, code] of [
      [3, 'already-approved-by-you'],
      [1, 'order-not-pending'],
    ] as const) {
      const id = await orderNeeding(needed)
      const answers = await atOnce(Array(50).fill(people[0]?.caller), id)
      assert.equal(given(answers).length, 1)
      for (const answer of refused(answers)) assertProblem(answer, 409, code)
      await assertGiven(id, 1)
    }
  })

  it('from four people, 50 in all, count as four, which is not enough for five', async () => {
    const id = await orderNeeding(5)
    const answers = await atOnce(
      Array.from({ length: 50 }, (_, index) => people[index % 4]?.caller ?? admin),
      id,
    )
    assert.equal(given(answers).length, 4)
    for (const answer of refused(answers)) assertProblem(answer, 409, 'already-approved-by-you')
    await assertGiven(id, 4)
  })

  it('never count if they come from the creator', async () => {
    const [creator, ...others] = callers(20)
    const id = await orderNeeding(5, creator)
    const mixed = others.slice(0, 5).flatMap((other) => [creator ?? admin, other, creator ?? admin])
    const answers = await atOnce(mixed, id)
    assert.equal(given(answers).length, 5)
    assert.ok(answers.every(({ status }, index) => status !== 204 || mixed[index] !== creator))
    await assertGiven(id, 5)
  })

  it('with If-Match of one version count once, and the other 49 get the new version', async () => {
    const id = await orderNeeding(3)
    const answers = await atOnce(callers(50), id, () => ({ 'if-match': '"1"' }))
    assert.equal(given(answers).length, 1)
    for (const answer of refused(answers)) {
      assertProblem(answer, 412, 'precondition-failed')
      assert.equal(answer.headers.get('etag'), '"2"')
    }
    await assertGiven(id, 1)
  })

  it('with If-Match of any version count as often as needed', async () => {
    const id = await orderNeeding(3)
    const answers = await atOnce(callers(50), id, () => ({ 'if-match': '*' }))
    assert.equal(given(answers).length, 3)
    await assertGiven(id, 3)
  })

  it('from one person with one key count once, and all get the same answer', async () => {
    const id = await orderNeeding(3)
    const headers = { 'idempotency-key': randomUUID() }
    const answers = await atOnce(Array(50).fill(people[0]?.caller), id, () => headers)
    for (const answer of refused(answers)) assertProblem(answer, 409, 'idempotency-in-progress')
    for (const answer of given(answers)) assert.equal(answer.headers.get('etag'), '"2"')
    const fresh = given(answers).filter((answer) => !answer.headers.has('idempotency-replayed'))
    assert.equal(fresh.length, 1)
    await assertGiven(id, 1)
  })

  it('from 50 people with the same key count as often as needed: a key belongs to its caller', async () => {
    const id = await orderNeeding(3)
    const headers = { 'idempotency-key': randomUUID() }
    const answers = await atOnce(callers(50), id, () => headers)
    assert.equal(given(answers).length, 3)
    for (const answer of refused(answers)) assertProblem(answer, 409, 'order-not-pending')
    await assertGiven(id, 3)
  })

  it('end with a rejection at the same time: the order is approved or rejected, and never both', async () => {
    const ends: number[] = []
    for (let round = 0; round < 6; round += 1) {
      const id = await orderNeeding(2)
      const reject = () => admin.patch(`/v1/orders/${id}/reject`, { reason: 'No.' })
      const [rejection, approvals] = await Promise.all([reject(), atOnce(callers(6), id)])
      const { status, events } = await approvalState(service, id)
      ends.push(status)
      const isRejected = rejection.status === 204
      assert.equal(status, isRejected ? 2 : 1)
      assert.equal(events.filter(({ kind }) => kind === 'approved').length, isRejected ? 0 : 1)
      assert.equal(given(approvals).length, events.length)
      assert.ok(given(approvals).length <= (isRejected ? 1 : 2))
    }
    assert.equal(ends.length, 6)
  })
})
