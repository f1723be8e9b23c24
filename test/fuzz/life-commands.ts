import assert from 'node:assert/strict'
import fc from 'fast-check'
import { machineStamp } from '../../server/caller/stamp.ts'
import { assertProblem } from '../support/problem.ts'
import { anyCaller, ask, type CallerChoice, command, weighted } from './command.ts'
import { approvalsOf, refusalOf, tell } from './life.ts'
import { type Model, required } from './model.ts'
import {
  anyKey,
  anyOrder,
  anyZone,
  createOrder,
  decide,
  instant,
  keep,
  keyUse,
  orderIdOf,
  replayed,
  words,
} from './order-commands.ts'
import type { World } from './world.ts'

const anyNote = fc.record({
  choice: anyCaller,
  order: anyOrder,
  text: fc.constantFrom(...words),
  key: anyKey,
  zone: anyZone,
})

const note = command('addNote', anyNote, async (model, world, input) => {
  const { text, key, zone } = input
  const id = orderIdOf(model, input.order)
  const order = model.orders.get(id)
  const { answer, caller } = await ask(model, world, input, {
    method: 'POST',
    path: `/v1/orders/${id}/notes`,
    access: 'Orders.Note',
    headers: { 'idempotency-key': key, 'time-zone': zone },
    body: { text },
  })
  if (caller === undefined) return
  const use = keyUse(caller, `note ${id}`, key, [zone, text], answer.body.id)
  const before = replayed(model, world.now, use, answer)
  if (answer.status === 422) return
  if (before !== undefined) return assert.equal(answer.body.id, before)
  if (order === undefined) return assertProblem(answer, 404, 'order-not-found')
  assert.equal(answer.status, 201, answer.text)
  keep(model, world.now, use, answer)
  tell(model, 'noted', order, text, { account: caller.account, now: world.now, zone })
})

const anyReading = fc.record({
  choice: anyCaller,
  order: anyOrder,
  size: fc.constantFrom(1, 3, 100),
  page: fc.constantFrom(1, 1, 2),
  direction: fc.constantFrom('Asc', 'Desc'),
})

/** The order of the input; undefined if the request was refused because of the caller or the order. */
async function read(
  model: Model,
  world: World,
  input: { choice: CallerChoice; instance: number; order: number },
  path: string,
) {
  const id = orderIdOf(model, input.order)
  const request = { method: 'GET', path: `/v1/orders/${id}/${path}`, access: 'Orders.Read' } as const
  const { answer, caller } = await ask(model, world, input, request)
  if (caller === undefined) return undefined
  const order = model.orders.get(id)
  if (order !== undefined) return { id, answer, caller, order }
  assertProblem(answer, 404, 'order-not-found')
  return undefined
}

/** Everyone decides in their own place. */
/** Nobody in the model has a printed name, or a deputy. */
const forNobody = { byName: null, for: null, forName: null, forId: null }

const history = command('listOrderHistory', anyReading, async (model, world, input) => {
  const { size, page, direction } = input
  const query = `pageSize=${size}&pageNumber=${page}&order=${direction}`
  const found = await read(model, world, input, `history?${query}`)
  if (found === undefined) return
  const { id, answer } = found
  const events = model.eventsOf(id)
  const inOrder = direction === 'Asc' ? events : events.toReversed()
  assert.equal(answer.body.totalCount, events.length)
  assert.deepEqual(
    answer.body.items.map(
      ({ id: _, sequence: __, hash: ___, erased: ____, ...told }: Record<string, unknown>) => told,
    ),
    inOrder.slice((page - 1) * size, page * size).map(({ at, zone, ...event }) => ({
      ...event,
      ...forNobody,
      document: null,
      atUtc: instant(at),
      atTimeZone: zone,
    })),
  )
})

const approvals = command('getOrderApprovals', anyReading, async (model, world, input) => {
  const found = await read(model, world, input, 'approvals')
  if (found === undefined) return
  const { id, answer, caller, order } = found
  const { number, reason, mayApprove, ...told } = answer.body
  assert.ok(Number.isInteger(number) && number > 0, `${number}`)
  assert.deepEqual(told, {
    proposedBy: model.clientIds.has(order.created_by_id ?? 0) ? order.created_by : null,
    required: order.approvals_needed,
    selfApproval: order.self_approval === 1,
    services: order.service_approval === 1,
    role: order.role_needed,
    passkey: order.passkey_needed === 1,
    mayApproveFor: null,
    replaces: null,
    replacedBy: null,
    given: approvalsOf(model, id).map(({ by, byId, at }) => ({
      by,
      byId,
      atUtc: instant(at),
      ...forNobody,
      signed: false,
    })),
  })
  const refusal = refusalOf(model, 'approve', order, caller.account)?.[1] ?? null
  const possible = model
    .possiblePermissions(caller.roles, world.now)
    .map((held) => (held.includes('Orders.Approve') ? refusal : 'permission-denied'))
  assert.ok(possible.includes(reason), `${reason} and not ${possible}`)
  assert.equal(mayApprove, reason === null)
})

const receipt = command('getOrderReceipt', anyReading, async (model, world, input) => {
  const found = await read(model, world, input, 'receipt')
  if (found === undefined) return
  const { id, answer, order } = found
  if (order.status !== 1) return assertProblem(answer, 409, 'order-not-approved')
  // The service also seals by itself. A caller who comes at that moment has to try again.
  if (answer.status === 503) return assertProblem(answer, 503, 'receipt-not-ready')
  const signed = required<string>(answer.body.receipt)
  assert.equal(signed, model.receipts.getOrInsert(id, signed))
  const [, payload = ''] = signed.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  assert.equal(claims.order.version, order.version)
  const authors = claims.approvals.map(({ byId }: { byId: number }) => byId)
  assert.deepEqual(
    authors,
    approvalsOf(model, id).map(({ byId }) => byId),
  )
})

const anyRow = fc.record({
  approvals: fc.integer({ min: 1, max: 3 }),
  selfApproval: fc.boolean(),
  services: fc.boolean(),
  role: fc.constantFrom(null, null, 'Admin', 'Viewer'),
  passkey: fc.constantFrom(false, false, true),
})

const setPolicy = command(
  'setApprovalPolicy',
  fc.record({ first: anyRow, second: fc.option(anyRow) }),
  async (model, world, { first, second }) => {
    const rows = [{ from: 0, ...first }, ...(second === null ? [] : [{ from: 20_000, ...second }])]
    const stamp = machineStamp(world.now)
    const input = { rows, acceptedVersions: null, stamp, idempotency: null }
    await world.service.db.write('setApprovalPolicy', input)
    model.policy = rows
  },
)

/** Callers with the newest token of each account that can certainly create and approve. */
function approvers(model: Model, { now }: World): CallerChoice[] {
  const newest = new Map(
    model.accessTokens
      .map((token, index) => ({ token, bearer: model.accessTokens.length - 1 - index }))
      .filter(({ token }) => {
        const held = model.possiblePermissions(token.roles, now)
        const isValid = model.standing(token, 0, now) === 'valid'
        return isValid && held.every((all) => all.includes('Orders.Create') && all.includes('Orders.Approve'))
      })
      .map(({ token, bearer }) => [token.account, bearer]),
  )
  return [...newest.values()].map((bearer) => ({ kind: 'bearer', browser: 0, bearer, antiforgery: 'right' }))
}

/** They include the creator, whom the policy may exclude. */
const approveInTurn = command(
  'an order under a new policy, approved by everybody in turn',
  fc.record({ policy: anyRow }),
  async (model, world, { policy }) => {
    const none = { key: undefined, zone: undefined }
    await setPolicy.of({ first: policy, second: null }).run(model, world)
    const [creator, ...others] = approvers(model, world)
    if (creator === undefined) return
    const order = { choice: creator, customer: 'Acme', totalE4: 10_000, ...none }
    await createOrder.of(order).run(model, world)
    for (const choice of [creator, ...others, creator]) {
      await decide
        .of({ choice, order: 0, name: 'approve', reason: '', ifMatch: undefined, ...none })
        .run(model, world)
    }
  },
)

/** A job that both instances do by themselves, at once. It must make no difference. */
const seal = command(
  'sealEvents',
  fc.record({ limit: fc.integer({ min: 1, max: 9 }) }),
  async (_, world, { limit }) => {
    await Promise.all([0, 1].map(() => world.service.db.write('sealEvents', { limit })))
  },
)

export const lifeCommands = weighted(
  [4, note],
  [3, history],
  [3, approvals],
  [1, receipt],
  [3, setPolicy],
  [3, approveInTurn],
  [2, seal],
)
