import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Answer } from '../support/client.ts'
import { type OrderRow, orderRow } from '../support/orders.ts'
import { assertProblem } from '../support/problem.ts'
import { anyCaller, ask, type Caller, command, weighted } from './command.ts'
import { change, refusalOf, stampOfPolicy, tell } from './life.ts'
import { fromEnd, type Model, required } from './model.ts'

const keyMilliseconds = 86_400_000
export const anyZone = fc.constantFrom(undefined, undefined, 'Europe/Berlin', 'Asia/Kolkata')
export const anyKey = fc.constantFrom(undefined, undefined, undefined, 'a', 'b')
const customers = ['Acme', 'acme ltd', 'Zebra', 'Ärger', 'Straße', '100%', '_']

/** An order, usually a young one, or one that does not exist. */
export const anyOrder = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(0, 0, 0, 1, 2, 3, 7) },
  { weight: 1, arbitrary: fc.constant(-1) },
)

export function orderIdOf(model: Model, index: number): string {
  const known = index < 0 ? undefined : fromEnd([...model.orders.keys()], index)
  return known ?? '019a0000-0000-7000-8000-000000000000'
}

interface KeyUse {
  name: string
  fingerprint: string
  order: string
}

/**
 * Undefined if the key decided nothing. Otherwise the answer had to repeat the first one, or be a refusal.
 */
export function replayed(
  model: Model,
  now: number,
  use: KeyUse | undefined,
  answer: Answer,
): string | undefined {
  const kept = use && model.keys.get(use.name)
  if (use === undefined || kept === undefined || kept.expires <= now) return undefined
  if (kept.fingerprint === use.fingerprint) {
    assert.equal(answer.headers.get('idempotency-replayed'), 'true', answer.text)
    return kept.order
  }
  assertProblem(answer, 422, 'idempotency-key-reused')
  return kept.order
}

export function keep(model: Model, now: number, use: KeyUse | undefined, answer: Answer): void {
  assert.equal(answer.headers.get('idempotency-replayed'), null)
  if (use === undefined) return
  const { name, fingerprint, order } = use
  model.keys.set(name, { fingerprint, order, expires: now + keyMilliseconds })
}

const anyOrderInput = fc.record({
  choice: anyCaller,
  customer: fc.constantFrom(...customers),
  totalE4: fc.oneof(fc.integer({ min: 1, max: 60_000 }), fc.constantFrom(10_000, 999_999_999_999_999)),
  key: anyKey,
  zone: anyZone,
})

export const createOrder = command('createOrder', anyOrderInput, async (model, world, input) => {
  const { customer, totalE4, key, zone } = input
  const { answer, caller } = await ask(model, world, input, {
    method: 'POST',
    path: '/v1/orders',
    access: 'Orders.Create',
    headers: { 'idempotency-key': key, 'time-zone': zone },
    body: { customer, total: totalE4 / 10_000 },
  })
  if (caller === undefined) return
  const use = keyUse(caller, 'create', key, [customer, totalE4, zone], answer.body.id)
  const before = replayed(model, world.now, use, answer)
  if (answer.status === 422) return
  assert.deepEqual([answer.status, answer.headers.get('etag')], [201, '"1"'], answer.text)
  const { id } = answer.body
  assert.equal(answer.headers.get('location'), `/v1/orders/${id}`)
  if (before !== undefined) {
    assert.equal(id, before)
    return
  }
  assert.ok(!model.orders.has(id))
  keep(model, world.now, use, answer)
  const { account } = caller
  const order = orderRow({
    ...{ id, customer, total_e4: totalE4, created_at: world.now, created_at_time_zone: zone ?? 'UTC' },
    ...{ created_by: account.name, created_by_id: account.id },
    ...stampOfPolicy(model, totalE4),
  })
  model.orders.set(id, order)
  tell(model, 'created', order, null, { account, now: world.now, zone })
})

export function keyUse(
  caller: Caller,
  operation: string,
  key: string | undefined,
  values: unknown[],
  order: string,
) {
  if (key === undefined) return undefined
  return { name: `${caller.account.id} ${operation} ${key}`, fingerprint: JSON.stringify(values), order }
}

export const words = ['Twice.', 'a\r\nb', '\u{1f600}']

const anyDecision = fc.record({
  choice: anyCaller,
  order: anyOrder,
  name: fc.constantFrom(
    ...(['approve', 'approve', 'approve', 'approve', 'reject', 'withdraw', 'withdraw'] as const),
  ),
  reason: fc.constantFrom(...words),
  ifMatch: fc.constantFrom(...[undefined, undefined, undefined, '*', 'current', '"1"', 'W/"1"', '"7", "9"']),
  key: anyKey,
  zone: anyZone,
})

const names = 'approveOrder, rejectOrder or withdrawOrder'

export const decide = command(names, anyDecision, async (model, world, input) => {
  const { name, key, zone } = input
  const id = orderIdOf(model, input.order)
  const order = model.orders.get(id)
  const ifMatch = input.ifMatch === 'current' ? `"${order?.version ?? 1}"` : input.ifMatch
  const reason = name === 'approve' ? null : input.reason
  const { answer, caller } = await ask(model, world, input, {
    method: 'PATCH',
    path: `/v1/orders/${id}/${name}`,
    access: name === 'withdraw' ? 'Orders.Create' : 'Orders.Approve',
    headers: { 'if-match': ifMatch, 'idempotency-key': key, 'time-zone': zone },
    body: reason === null ? undefined : { reason },
  })
  if (caller === undefined) return
  const next = `"${(order?.version ?? 0) + 1}"`
  const use = keyUse(caller, `${name} ${id}`, key, [zone, ifMatch, reason], next)
  const before = replayed(model, world.now, use, answer)
  const refusal = order && refusalOf(model, name, order, caller.account)
  if (answer.status === 422) return
  if (before !== undefined) assert.deepEqual([answer.status, answer.headers.get('etag')], [204, before])
  else if (order === undefined) assertProblem(answer, 404, 'order-not-found')
  else if (!accepts(ifMatch, order)) {
    assertProblem(answer, 412, 'precondition-failed')
    assert.equal(answer.headers.get('etag'), `"${order.version}"`)
  } else if (refusal !== undefined) {
    assertProblem(answer, ...refusal)
    assert.equal(answer.body.currentStatus ?? order.status, order.status)
  } else {
    assert.deepEqual([answer.status, answer.headers.get('etag')], [204, next], answer.text)
    keep(model, world.now, use, answer)
    change(model, name, order, reason, { account: caller.account, now: world.now, zone })
  }
})

function accepts(ifMatch: string | undefined, { version }: OrderRow): boolean {
  return ifMatch === undefined || ifMatch === '*' || ifMatch.replace('W/', '') === `"${version}"`
}

const raceApprove = command(
  'four approvals at once',
  fc.record({ order: anyOrder }),
  async (model, world, input) => {
    const token = model.accessTokens.findLast(
      (candidate) =>
        model.standing(candidate, 0, world.now) === 'valid' &&
        model
          .possiblePermissions(candidate.roles, world.now)
          .every((held) => held.includes('Orders.Approve')),
    )
    if (token === undefined) return
    const id = orderIdOf(model, input.order)
    const outgoing = {
      method: 'PATCH',
      path: `/v1/orders/${id}/approve`,
      headers: { authorization: `Bearer ${token.value}` },
    }
    const answers = await Promise.all([0, 1, 2, 3].map((instance) => world.send(instance, outgoing)))
    const order = model.orders.get(id)
    const refusal = order && refusalOf(model, 'approve', order, token.account)
    const winners = answers.filter(({ status }) => status === 204)
    const isGiven = order !== undefined && refusal === undefined
    assert.equal(winners.length, isGiven ? 1 : 0)
    if (isGiven)
      change(model, 'approve', order, null, { account: token.account, now: world.now, zone: undefined })
    const later = order && refusalOf(model, 'approve', order, token.account)
    for (const answer of answers)
      if (!winners.includes(answer)) assertProblem(answer, ...(refusal ?? later ?? [404, 'order-not-found']))
  },
)

const anyGet = fc.record({
  choice: anyCaller,
  order: anyOrder,
  tag: fc.constantFrom(undefined, '"1"', 'W/"2"', '*'),
})

const getOrder = command('getOrder', anyGet, async (model, world, input) => {
  const { tag } = input
  const id = orderIdOf(model, input.order)
  const { answer, caller } = await ask(model, world, input, {
    method: 'GET',
    path: `/v1/orders/${id}`,
    access: 'Orders.Read',
    headers: { 'if-none-match': tag },
  })
  if (caller === undefined) return
  const order = model.orders.get(id)
  if (order === undefined) return assertProblem(answer, 404, 'order-not-found')
  const isKnown = tag === '*' || tag?.replace('W/', '') === `"${order.version}"`
  assert.deepEqual([answer.status, answer.headers.get('etag')], [isKnown ? 304 : 200, `"${order.version}"`])
  assert.deepEqual(answer.body, isKnown ? undefined : toOrder(order))
})

export const instant = (milliseconds: number) => new Date(milliseconds).toISOString()

export function toSummary({ id, customer, total_e4, status, created_at }: OrderRow) {
  return { id, customer, total: total_e4 / 10_000, status, createdAtUtc: instant(created_at) }
}

function toOrder(row: OrderRow) {
  return {
    ...toSummary(row),
    createdAtTimeZone: row.created_at_time_zone,
    updatedAtUtc: row.updated_at === null ? null : instant(row.updated_at),
    updatedAtTimeZone: row.updated_at_time_zone,
    createdBy: required(row.created_by),
    modifiedBy: row.modified_by,
  }
}

export const orderCommands = weighted([8, createOrder], [14, decide], [2, raceApprove], [3, getOrder])
