// engine: none
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { type Description, factsOf, takenAway } from '../tools/frozen.ts'

const root = new URL('../', import.meta.url)
const linesOf = (path: string) => readFileSync(new URL(path, root), 'utf8').trimEnd().split('\n')
const description = (): Description => JSON.parse(readFileSync(new URL('docs/openapi.json', root), 'utf8'))
const today = linesOf('docs/frozen.txt')

type Operation = Description['paths'][string][string]
type Schema = Description['components']['schemas'][string]
type Change = (description: Description) => void

const toOperations =
  (change: (operation: Operation) => void): Change =>
  ({ paths }) =>
    Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .forEach(change)
const toSchemas =
  (change: (schema: Schema) => void): Change =>
  ({ components }) =>
    Object.values(components.schemas).forEach(change)

/** Sets what has such a name, wherever it is: values, or objects with `headers`. */
function toAll(names: RegExp, newValue: (value: unknown) => unknown): Change {
  return function walk(node: object): void {
    for (const [name, value] of Object.entries(node)) {
      const isObject = value !== null && typeof value === 'object'
      if (names.test(name) && (!isObject || name === 'headers'))
        Object.assign(node, { [name]: newValue(value) })
      else if (isObject) walk(value)
    }
  }
}

const must = { name: 'must', in: 'query', schema: { type: 'string' } }
const bounds = /^(?:maxLength|maximum|maxItems)$/

/** Each takes away all facts of today that `gone` matches. */
const narrower: { what: string; change: Change; gone: RegExp }[] = [
  {
    what: 'requests need one more parameter',
    change: toOperations(({ parameters }) => void parameters.push({ ...must, required: true })),
    gone: /^operation /,
  },
  {
    what: 'every body is needed',
    change: toOperations(({ requestBody }) => void Object.assign(requestBody ?? {}, { required: true })),
    gone: /^operation (?:confirmSession|rotateClientSecret|withdrawOrder|rotateWebhookSecret) /,
  },
  {
    what: 'less fits',
    change: toAll(bounds, (most) => Math.floor(Number(most) / 2)),
    gone: /^request .*"max/,
  },
  { what: 'no text fits', change: toAll(/^pattern$/, () => '^never$'), gone: /^request .*"pattern"/ },
  { what: 'answers have no headers', change: toAll(/^headers$/, () => ({})), gone: /^answer .*"headers"/ },
  {
    what: 'nobody is refused',
    change: toOperations((operation) => {
      const all = Object.entries(operation.responses)
      operation.responses = Object.fromEntries(all.filter(([status]) => status < '400'))
    }),
    gone: /^answer \w+ [45]/,
  },
  {
    what: 'callers show something else',
    change: toOperations((operation) => void Object.assign(operation, { security: [{ other: [] }] })),
    gone: /^security /,
  },
  {
    what: 'objects have no other members',
    change: toSchemas((schema) => void Object.assign(schema, { additionalProperties: false })),
    gone: /^request [A-Z]\w+ object(?!.*"isClosed")/,
  },
  { what: 'defaults are others', change: toAll(/^default$/, () => 7), gone: /^request .* default / },
]

describe('what a release promised', () => {
  it('still holds', () => {
    for (const path of globSync('docs/releases/*.txt', { cwd: root })) {
      const words = `${path}: nothing may go once a release has its tag; until then, repeat tools/release.ts`
      assert.deepEqual(takenAway(linesOf(path), today), [], words)
    }
  })

  it('no longer holds if a member, a value or a setting goes, or a request needs more', () => {
    const { Order, CreateOrderCommand, EOrderStatus } = description().components.schemas
    assert.ok(Order?.required && CreateOrderCommand?.required && EOrderStatus?.enum)
    const drop = (list: unknown[] = [], value: unknown) => void list.splice(list.indexOf(value), 1)
    const changed = (change: (schemas: Description['components']['schemas']) => void) => {
      const other = description()
      change(other.components.schemas)
      return takenAway(today, factsOf(other))
    }
    assert.deepEqual(
      changed(({ Order }) => void delete Order?.properties?.modifiedBy),
      ['schema Order.modifiedBy always null|string'],
    )
    assert.deepEqual(
      changed(({ Order }) => drop(Order?.required, 'modifiedBy')),
      ['schema Order.modifiedBy always null|string'],
    )
    assert.deepEqual(
      changed(({ CreateOrderCommand }) => void CreateOrderCommand?.required?.push('note')),
      ['request CreateOrderCommand object {"needs":["customer","total"]}'],
    )
    assert.deepEqual(
      changed(({ EOrderStatus }) => drop(EOrderStatus?.enum, 3)),
      ['schema EOrderStatus value 3'],
    )
    assert.deepEqual(takenAway(['setting GONE', ...today], today), ['setting GONE'])
  })

  for (const { what, change, gone } of narrower) {
    it(`no longer holds if ${what}`, () => {
      const other = description()
      change(other)
      const promised = today.filter((fact) => gone.test(fact))
      assert.ok(promised.length > 0)
      const left = new Set(takenAway(today, factsOf(other)))
      assert.deepEqual(
        promised.filter((fact) => !left.has(fact)),
        [],
      )
    })
  }

  it('holds if an answer has more, or a request may have more', () => {
    const other = description()
    const { Order, CreateOrderCommand } = other.components.schemas
    for (const schema of [Order, CreateOrderCommand])
      Object.assign(schema?.properties ?? {}, { later: { type: 'string' } })
    Order?.required?.push('later')
    assert.deepEqual(takenAway(today, factsOf(other)), [])
  })

  for (const [from, to, gone] of [
    ['|createdBy|', '|later|createdBy|', []],
    ['|[Tt][Oo][Tt][Aa][Ll]', '|[Tt][Oo][Tt][Aa][Ll]|[Aa][Tt]', []],
    ['|createdBy|', '|later|', ['listOrders query columns']],
    ['|[Tt][Oo][Tt][Aa][Ll]', '', ['PutViewCommand.sort.orderBy', 'listOrders query orderBy']],
    ['mayApprove))*$', 'mayApprove))?$', ['listOrders query columns']],
  ] as const) {
    it(`${gone.length > 0 ? 'no longer ' : ''}holds if the names of a list have ${to} for ${from}`, () => {
      const other = description()
      toAll(/^pattern$/, (pattern) => String(pattern).replaceAll(from, to))(other)
      const lost = takenAway(today, factsOf(other)).map((fact) => /^request (.*?) string /.exec(fact)?.[1])
      assert.deepEqual(lost, gone)
    })
  }

  it('holds if requests may have one more parameter, and more fits', () => {
    const other = description()
    toOperations(({ parameters }) => void parameters.push(must))(other)
    toAll(bounds, (most) => Number(most) * 2)(other)
    assert.deepEqual(takenAway(today, factsOf(other)), [])
  })
})
