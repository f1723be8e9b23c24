// engine: none
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { type Description, factsOf, takenAway } from '../tools/frozen.ts'

const root = new URL('../', import.meta.url)
const linesOf = (path: string) => readFileSync(new URL(path, root), 'utf8').trimEnd().split('\n')
const description = (): Description => JSON.parse(readFileSync(new URL('docs/openapi.json', root), 'utf8'))
const today = linesOf('docs/frozen.txt')

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
      changed(({ Order }) => void Order?.required?.pop()),
      ['schema Order.modifiedBy always null|string'],
    )
    assert.deepEqual(
      changed(({ CreateOrderCommand }) => void CreateOrderCommand?.required?.push('note')),
      ['request CreateOrderCommand needs customer, total'],
    )
    assert.deepEqual(
      changed(({ EOrderStatus }) => void EOrderStatus?.enum?.pop()),
      ['schema EOrderStatus value 3'],
    )
    assert.deepEqual(takenAway(['setting GONE', ...today], today), ['setting GONE'])
  })

  it('holds if an answer has more, or a request may have more', () => {
    const other = description()
    const { Order, CreateOrderCommand } = other.components.schemas
    for (const schema of [Order, CreateOrderCommand])
      Object.assign(schema?.properties ?? {}, { later: { type: 'string' } })
    Order?.required?.push('later')
    assert.deepEqual(takenAway(today, factsOf(other)), [])
  })
})
