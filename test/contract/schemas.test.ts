import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import {
  ClientTokenCommand,
  LoginSessionCommand,
  RefreshTokenCommand,
  TokenLoginCommand,
} from '../../server/auth/routes/schemas.ts'
import { compileParser } from '../../server/http/fields.ts'
import type { Schema } from '../../server/http/schema.ts'
import { FilterError } from '../../server/orders/filter/fault.ts'
import { parseFilter } from '../../server/orders/filter/parser.ts'
import { OrdersOverviewQuery } from '../../server/orders/overview/schemas.ts'
import { ApprovalPolicy } from '../../server/orders/policy/schemas.ts'
import { CreateOrderCommand, ListOrdersQuery, totalField } from '../../server/orders/schemas.ts'
import { anyCharacter } from '../support/any-character.ts'
import { Judge, toPointer } from '../support/description.ts'
import { forAll } from '../support/for-all.ts'
import { canBeSeen } from '../support/orders.ts'
import { setUp, testService } from '../support/service.ts'

/** A request that the schema allows never gets 400. A request that it forbids is never accepted. */
describe('the live description allows exactly what is accepted', () => {
  const service = testService({ development: true, env: { RATE_LIMIT_FACTOR: '1000' } })
  let judge: Judge
  const admin = setUp(() => service.bearer('admin'))
  before(async () => {
    judge = new Judge((await service.client().get('/openapi/v1.json')).body)
  })

  const either = <T>(...arbitraries: fc.Arbitrary<T>[]) => fc.oneof(...arbitraries)
  const anyText = fc.string({ unit: anyCharacter, maxLength: 12 })
  const wrongType = fc.constantFrom<unknown>(null, true, false, [], {}, ['1'], [1], { a: 1 })
  const bodyOf = (name: string) => judge.validator(toPointer(['components', 'schemas', name]))

  const customer = either<unknown>(
    anyText,
    fc.constantFrom(
      '',
      ' ',
      '\t',
      '\u0085',
      '\u00a0x',
      'a\u0000b',
      'a\nb',
      ' a\n',
      '\u200b',
      '\ufeff',
      '\u2028a',
      'a\u202eb',
      '\u2066a\u2069',
      '\u3164',
      'a\u200b',
    ),
    fc.string({ unit: 'grapheme', minLength: 195, maxLength: 205 }),
    fc
      .tuple(fc.nat(3), fc.integer({ min: 197, max: 202 }))
      .map(([pad, n]) => ' '.repeat(pad) + '𝄞'.repeat(n)),
    fc.integer(),
    wrongType,
  )
  const digits = (maximum: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: maximum })
  const decimalText = fc
    .tuple(
      fc.constantFrom('', '-', '+', '0', ' '),
      digits(13),
      fc.constantFrom('', '.', ',', '.0'),
      digits(6),
    )
    .map((parts) => parts.join(''))
  const total = either<unknown>(
    decimalText,
    fc.constantFrom(...'1e3 0x10 NaN Infinity ١ 1. .5 0 -0 0.0000 00.1'.split(' '), '1\n', ''),
    fc.constantFrom(
      0,
      -0,
      1e21,
      1e-7,
      5e-324,
      99_999_999_999.9999,
      100_000_000_000,
      0.07,
      0.1 + 0.2,
      1.00001,
    ),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.tuple(fc.nat(999_999_999), fc.nat(99_999)).map(([whole, part]) => whole + part / 10 ** 4),
    wrongType,
  )
  const goodCustomer = fc.constantFrom('Acme', ' Müller ', 'x'.repeat(200))
  const goodTotal = either<unknown>(
    fc.constantFrom('12.5', 12.5),
    fc.nat(9_999).map((n) => (n + 1) / 10_000),
  )

  /** Some of the members, each with a good or a doubtful value, and unknown ones. */
  const bodies = (members: Record<string, fc.Arbitrary<unknown>>) =>
    fc.oneof(
      { weight: 9, arbitrary: fc.record({ ...members, more: wrongType }, { requiredKeys: [] }) },
      { weight: 9, arbitrary: fc.record(members) },
      { weight: 1, arbitrary: fc.constantFrom<unknown>(null, [], 'x', 1, true, [{}]) },
    )

  /** The verdict of a route on a body or query before its handler runs. */
  const faultsIn = (schema: Schema, sent: unknown) => compileParser({ schema })(sent).error?.errors ?? []

  /** `isAllowedBesides` judges what the schema allows. */
  function assertAgreement(
    name: string,
    schema: Schema,
    body: unknown,
    isAllowedBesides: (allowed: never) => boolean = () => true,
  ): void {
    // As it arrives over the wire: -0 is 0.
    const sent = JSON.parse(JSON.stringify(body))
    const isOfSchema: boolean = bodyOf(name)(sent)
    const isAllowed = isOfSchema && isAllowedBesides(sent as never)
    const faults = faultsIn(schema, sent)
    const label = `${JSON.stringify(sent)}: ${JSON.stringify(faults)}`
    assert.equal(faults.length === 0, isAllowed, label)
    const named = faults.map(({ pointer = '' }) => memberOf(pointer))
    const wrong = isOfSchema ? [] : (bodyOf(name).errors ?? [])
    const places = wrong.map(({ instancePath, params: { missingProperty, additionalProperty } }) => {
      const member = missingProperty ?? additionalProperty
      return memberOf(`#${instancePath}${member === undefined ? '' : `/${member}`}`)
    })
    const strays = places.filter((place) => !named.includes(place))
    assert.deepEqual(strays, [], label)
  }

  /** `#/rows/3/from` concerns the rows. */
  const memberOf = (pointer: string) => pointer.split('/', 2).join('/')

  it('every cent from 0.01 to 100.00, as a number and as text, for a plain validator and the service', () => {
    const { schemas } = judge.description.components
    const { total } = (schemas.CreateOrderCommand as { properties: Record<string, object> }).properties
    const isTotal = new Ajv2020({ strict: false, validateFormats: false }).compile(total ?? false)
    for (let cents = 1; cents <= 10_000; cents += 1) {
      for (const value of [cents / 100, (cents / 100).toFixed(2)]) {
        assert.ok(isTotal(value), JSON.stringify(value))
        assert.equal(totalField.read(value), cents * 100)
      }
    }
  })

  /** A rule that not every client's regular expressions can state. */
  const hasVisibleCustomer = (sent: { customer: string }) => canBeSeen(sent.customer)

  const command = bodies({ customer: either(customer, goodCustomer), total: either(total, goodTotal) })

  it('in CreateOrderCommand, except for invisible names, which its description mentions', () => {
    forAll(1_000, command, (body) =>
      assertAgreement('CreateOrderCommand', CreateOrderCommand, body, hasVisibleCustomer),
    )
  })

  it('in answers', async () => {
    for (const body of fc.sample(command, 30)) {
      const sent = JSON.stringify(body)
      const answer = await admin.post('/v1/orders', sent)
      assert.deepEqual(answer.body.errors ?? [], faultsIn(CreateOrderCommand, JSON.parse(sent)), sent)
    }
  })

  it('in ApprovalPolicy, except for the order of its rows, which its description mentions', () => {
    const from = either<unknown>(total, fc.constantFrom(0, '0', '0.0', 5, '5.0', 5.0001, 100, '100'))
    const row = fc.record(
      {
        from,
        approvals: either<unknown>(
          fc.integer({ min: -1, max: 7 }),
          fc.constantFrom('1', '5', '01', '6'),
          wrongType,
        ),
        selfApproval: either<unknown>(fc.boolean(), fc.constantFrom('true', 0, 1, null)),
        services: fc.boolean(),
        role: either<unknown>(fc.constantFrom(null, 'Admin', '', '1', 'a b', 'Ä'), wrongType),
        more: wrongType,
      },
      { requiredKeys: ['from', 'approvals', 'selfApproval'] },
    )
    const goodRow = fc.record(
      {
        from: fc.constantFrom(0, 1, '2', 2.5, '1000', 99_999_999_999.9999),
        approvals: fc.constantFrom(1, '2', 5),
        selfApproval: fc.boolean(),
        services: fc.boolean(),
        role: fc.constantFrom(null, 'Admin', 'x'.repeat(64)),
      },
      { requiredKeys: ['from', 'approvals', 'selfApproval', 'services'] },
    )
    const rows = either<unknown>(
      fc.array(either<unknown>(row, goodRow, wrongType), { maxLength: 4 }),
      fc.array(goodRow, { maxLength: 4 }),
      fc.array(goodRow, { maxLength: 22 }).map(ascending),
      wrongType,
    )
    forAll(500, bodies({ rows }), (body) =>
      assertAgreement('ApprovalPolicy', ApprovalPolicy, body, isAscending),
    )
  })

  /** From 0 in steps, so that the rows are always in order. */
  function ascending<Row>(rows: Row[]) {
    return rows.map((row, index) => ({ ...row, from: index * 10 }))
  }

  function isAscending({ rows }: { rows: { from: number | string }[] }): boolean {
    const totals = rows.map(({ from }) => Number(from))
    return totals[0] === 0 && totals.every((from, index) => index === 0 || from > Number(totals[index - 1]))
  }

  it('with unknown members refused in administration and the policy, where a typo would go unnoticed', async () => {
    const managing = judge
      .operations()
      .filter(({ operation }) => ['Accounts.Manage', 'Policy.Manage'].includes(operation['x-access']))
    const bodies = managing.flatMap(({ path, method, operation }) => {
      const { example } = operation.requestBody?.content['application/json'] ?? {}
      return example === undefined ? [] : [{ path, method, example: example as Record<string, unknown> }]
    })
    assert.ok(bodies.length >= 8)
    const expected = [
      { pointer: '#/enabld', code: 'unknown', detail: 'enabld is no member of this object.' },
      { pointer: '#/a~1b', code: 'unknown', detail: 'a/b is no member of this object.' },
    ]
    for (const { path, method, example } of bodies) {
      const sent = { ...example, enabld: false, 'a/b': 1 }
      const url = path.replace('{id}', '1').replace('{name}', 'Viewer')
      const answer = await admin.send(method.toUpperCase(), url, sent, { 'if-match': '*' })
      assert.equal(answer.status, 400, `${method} ${path}`)
      const unknown = answer.body.errors.filter(({ code }: { code: string }) => code === 'unknown')
      assert.deepEqual(unknown, expected, `${method} ${path}`)
    }
  })

  it('in the bodies of the sign-ins and exchanges', () => {
    const around = (minimum: number, maximum: number) =>
      either<unknown>(
        fc.constantFrom(minimum - 1, minimum, maximum, maximum + 1).map((length) => '𝄞'.repeat(length)),
        anyText,
        wrongType,
        fc.integer(),
      )
    const email = either<unknown>(
      fc.constantFrom('a@b', '@b', 'a@', 'ab', 'a@b@c', 'a b@c', '@', 'a\u0000@b', `${'a'.repeat(252)}@b`),
      fc.constantFrom(`${'a'.repeat(253)}@b`, 'Ä@ö', '𝄞@𝄞', 'nobody@example.com'),
      fc.tuple(anyText, anyText).map((sides) => sides.join('@')),
      wrongType,
    )
    const exchanges = {
      RefreshTokenCommand: [RefreshTokenCommand, { refreshToken: around(1, 512) }],
      ClientTokenCommand: [ClientTokenCommand, { clientId: around(1, 64), clientSecret: around(1, 256) }],
      LoginSessionCommand: [LoginSessionCommand, { email, password: around(1, 256) }],
      TokenLoginCommand: [TokenLoginCommand, { email, password: around(1, 256) }],
    } as const
    for (const [name, [schema, members]] of Object.entries(exchanges)) {
      forAll(500, bodies(members), (body) => assertAgreement(name, schema, body))
    }
  })

  const oddNumbers = [...'-1 01 1.0 1e1 +1 １ [] null'.split(' '), ' 1', '9'.repeat(30)]

  it('in the parameters of the list', () => {
    const { operation } = judge.operations().find((each) => each.operation.operationId === 'listOrders') ?? {}
    const parameters = (operation?.parameters ?? []).filter((each) => each.in === 'query')
    const names = parameters.map(({ name }) => name)
    assert.deepEqual(names, 'pageNumber pageSize orderBy order filter paginated columns bom'.split(' '))
    const words = [
      ...oddNumbers,
      ...'0 1 2147483647 2147483648 true TRUE False yes asc DESC ascending 2 Customer TOTAL'.split(' '),
      ...'status createdatutc createdBy total,approvedBy version id'.split(' '),
      ...[1_000, 1_001].map((length) => 'a'.repeat(length)),
    ]
    const value = either(fc.constantFrom(...words), fc.integer().map(String), anyText)
    forAll(1_000, fc.nat(names.length - 1), value, (index, text) => {
      const [name = ''] = names.slice(index)
      const at = ['paths', '/v1/orders', 'get', 'parameters', String(indexOf(name)), 'schema']
      const isAllowed = text === '' || allows(judge.validator(toPointer(at)), text)
      const faults = faultsIn(ListOrdersQuery, { [name]: text })
      const label = `${name}=${JSON.stringify(text)}: ${JSON.stringify(faults)}`
      const isRead = faults.length === 0
      // The language of the filter limits its length: it refuses more than the schema, never less.
      const agrees = name === 'filter' ? isRead && (isAllowed || !isFilter(text)) : isRead === isAllowed
      assert.ok(agrees, label)
    })

    function isFilter(text: string): boolean {
      try {
        parseFilter(text)
        return true
      } catch (error) {
        assert.ok(error instanceof FilterError)
        return false
      }
    }

    function indexOf(name: string): number {
      return operation?.parameters?.findIndex((each) => each.name === name) ?? -1
    }
  })

  it('in the days of the overview', () => {
    const pointer = toPointer(['paths', '/v1/orders/summary', 'get', 'parameters', '0', 'schema'])
    const around = [...Array(400).keys()].map(String)
    for (const text of [...around, ...oddNumbers, '1 ', '10 0', 'x', 'true']) {
      const allowed = allows(judge.validator(pointer), text)
      assert.equal(faultsIn(OrdersOverviewQuery, { days: text }).length === 0, allowed, `days=${text}`)
      assert.equal(judge.validator(pointer)(text), allowed, `${text} as a string`)
    }
  })

  /** If the schema takes a number or boolean, the text of a parameter stands for it. */
  function allows(validate: ValidateFunction, text: string): boolean {
    const spelled = /^(?:-?(?:0|[1-9]\d*)|true|false)$/.test(text) ? JSON.parse(text) : text
    if (validate(spelled)) return true
    const isOfNoSuchType = (validate.errors ?? []).every(({ keyword }) => keyword === 'type')
    return isOfNoSuchType && validate(text)
  }
})
