import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { messageOf, newAgent, revisions } from '../support/agents.ts'
import { anyCharacter } from '../support/any-character.ts'
import { createdId } from '../support/orders.ts'
import { problemIn } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'
import { Sender } from './sender.ts'
import { announceSeed, assertAlways, effort } from './settings.ts'
import { hasOnlyPlainKeys } from './values.ts'

/** The members that each tool takes. */
const tools = {
  find_orders: ['filter', 'pageNumber', 'pageSize', 'order', 'orderBy'],
  read_order: ['id', 'pageNumber', 'pageSize', 'order'],
  propose_order: ['customer', 'total', 'why', 'idempotencyKey'],
  ask_for_decision: ['id'],
}
const methods = ['tools/list', 'tools/call', 'resources/list', 'resources/templates/list', 'resources/read']
const texts = fc.string({ unit: anyCharacter, maxLength: 30 })
const halves = fc.constantFrom('\ud800', 'a\udfff', '\u0000', '')

/** So that some proposals are good in all their arguments. */
const mostly = (good: unknown[], ...others: fc.Arbitrary<unknown>[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...good) }, ...others)

/** Arguments that are good, bad, or for another tool. `known` stands for the id of an order. */
const members: Record<string, fc.Arbitrary<unknown>> = {
  id: fc.oneof(fc.constant('known'), fc.uuid(), texts),
  filter: fc.oneof(fc.constantFrom('acme', 'status=Pending', 'total>', '(', 'waits:me'), texts, halves),
  pageNumber: fc.oneof(fc.constantFrom(1, '2', 0, 2 ** 31, 1.5), fc.jsonValue()),
  pageSize: fc.constantFrom(1, 100, 1_000, '0', null),
  order: fc.constantFrom('Asc', 'desc', 1, {}, []),
  orderBy: fc.constantFrom('total', 'CUSTOMER', 'none', 7),
  customer: mostly(['Acme'], texts, halves),
  total: mostly([12.5, '0.0001'], fc.constantFrom(0, -1, 1e21, '1e3'), fc.double()),
  why: mostly(['They reordered.'], texts, halves),
  idempotencyKey: fc.oneof(fc.constantFrom('a', 'b', 'ü', ''), fc.stringMatching(/^[ -~]{1,20}$/)),
  status: fc.jsonValue(),
}

const ofTool = (name: string, taken: readonly string[]) =>
  fc.record({
    name: fc.constant(name),
    arguments: fc.record(
      Object.fromEntries(taken.map((key) => [key, members[key] as fc.Arbitrary<unknown>])),
    ),
  })

const stray = fc.record(
  {
    name: fc.oneof(fc.constantFrom(...Object.keys(tools)), texts, fc.constant('toString')),
    arguments: fc.oneof(fc.record(members, { requiredKeys: [] }), fc.jsonValue()),
    uri: fc.oneof(fc.constantFrom('countersign://filter', 'countersign://orders/known'), texts),
    cursor: texts,
  },
  { requiredKeys: ['name'] },
)

const params = fc
  .oneof<fc.Arbitrary<Record<string, unknown>>[]>(
    ...Object.entries(tools).map(([name, taken]) => ofTool(name, taken)),
    stray,
  )
  .filter(hasOnlyPlainKeys)

const calls = fc.record({
  revision: fc.constantFrom(...revisions),
  method: fc.oneof(
    { weight: 5, arbitrary: fc.constant('tools/call') },
    { weight: 1, arbitrary: fc.constantFrom(...methods) },
  ),
  params,
})

describe('calls of agents', () => {
  const sender = new Sender()
  after(() => sender.close())
  const service = testService({ env: { RATE_LIMIT_FACTOR: '1000000' } })
  const agent = setUp(() => newAgent(service))

  it('end in a result or a problem of the catalogue, and decide about no order', async (t) => {
    announceSeed(t)
    const known = await createdId(await service.bearer('admin'))
    await assertAlways(calls, effort(400), async ({ revision, method, params: drawn }) => {
      const given = JSON.parse(JSON.stringify(drawn).replaceAll('known', known))
      const [message, headers] = messageOf(method, given, revision)
      const name = headers['mcp-name']
      const encoded = name && { 'mcp-name': `=?base64?${Buffer.from(name).toString('base64')}?=` }
      const answer = await sender.send(service.baseUrl, {
        method: 'POST',
        path: '/v1/mcp',
        headers: { ...agent.caller.headers, 'content-type': 'application/json', ...headers, ...encoded },
        body: JSON.stringify(message),
      })
      const { result, error } = answer.body
      assert.notEqual(result === undefined, error === undefined, answer.text)
      if (error !== undefined) assert.ok(problemIn(answer).code, answer.text)
      if (result?.isError) assert.ok(JSON.parse(result.content[0].text).status < 500, answer.text)
    })
    const decided = await service.db.read.selectFrom('orders').select('id').where('status', '<>', 0).execute()
    assert.deepEqual(decided, [])
    const creators = await service.db.read.selectFrom('orders').select('created_by').execute()
    assert.ok(creators.some(({ created_by }) => created_by === agent.clientId))
  })
})
