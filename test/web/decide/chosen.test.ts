import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { chosenWith, stillPending, without } from '../../../web/src/orders/decide/chosen.ts'
import { remembered } from '../../../web/src/orders/list/format.ts'

const order = (id: string, status: 0 | 1 = 0) => ({
  ...{ id, number: 1, customer: id, total: 1 },
  ...{ status, createdAtUtc: '' },
})
const none = new Map()

describe('choosing orders', () => {
  it('includes only pending orders, each with what its approval needs', () => {
    const chosen = chosenWith(none, [order('a'), order('b', 1)], true)
    assert.deepEqual([...chosen.values()], [order('a')])
  })

  it('leaves out what the list says the person may not approve, and drops it later', () => {
    const refused = { ...order('b'), mayApprove: false }
    const allowed = { ...order('a'), mayApprove: true }
    assert.deepEqual([...chosenWith(none, [allowed, refused], true).keys()], ['a'])
    const chosen = chosenWith(none, [order('a'), order('b')], true)
    assert.deepEqual([...stillPending(chosen, [allowed, refused]).keys()], ['a'])
  })

  it('keeps orders chosen on other pages', () => {
    const chosen = chosenWith(chosenWith(none, [order('a')], true), [order('b')], true)
    assert.deepEqual([...chosenWith(chosen, [order('a')], false).keys()], ['b'])
  })

  it('keeps the selection identical if nothing changes', () => {
    const chosen = chosenWith(none, [order('a')], true)
    assert.equal(chosenWith(chosen, [order('a')], true), chosen)
    assert.equal(stillPending(chosen, [order('a'), order('b', 1)]), chosen)
    assert.equal(without(chosen, ['x']), chosen)
  })

  it('are decided in the version whose documents their row counts, also after the row has changed', () => {
    const listed = { ...order('a'), version: 3, documents: 2, passkey: true }
    const subject = { ...order('a'), etag: '"3"', documents: 2, signedVersion: 3 }
    const chosen = chosenWith(none, [listed], true)
    assert.deepEqual(chosen.get('a'), subject)
    assert.equal(stillPending(chosen, [{ ...listed, newest: 4 }]), chosen)
    const next = stillPending(chosen, [{ ...listed, version: 4, documents: 1 }])
    assert.deepEqual(next.get('a'), { ...subject, etag: '"4"', documents: 1, signedVersion: 4 })
  })

  it('drops orders that others have approved', () => {
    const chosen = chosenWith(none, [order('a'), order('b')], true)
    assert.deepEqual([...stillPending(chosen, [order('a', 1)]).keys()], ['b'])
  })
})

describe('the figures of a row', () => {
  it('are formatted once, and not cached forever', () => {
    let count = 0
    const format = remembered((value: number) => {
      count += 1
      return `${value}`
    })
    assert.deepEqual([format(1), format(1), count], ['1', '1', 1])
    for (let value = 0; value < 2_001; value += 1) format(value)
    assert.equal(format(1), '1')
    assert.equal(count, 2_002)
  })
})
