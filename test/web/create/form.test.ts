import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Problem, ProblemError } from '../../../web/src/api/problem.ts'
import '../../support/page.ts'

const { draftLike, isStillThere, place, prepareSending } = await import(
  '../../../web/src/orders/create/form.ts'
)
const { dropDraft, keepDraft, readDraft, refusalsOf } = await import('../../../web/src/ui/draft.ts')
const { notation } = await import('../../../web/src/orders/create/notation.ts')
const { readTotal } = await import('../../../web/src/orders/create/total-input.ts')

const draft = { customer: 'Acme', total: '7', note: '', replaces: '' }
const read = () => readDraft<typeof draft>(place, 1) ?? { ...draft, customer: '', total: '' }

function sending(values: Partial<typeof draft> = {}) {
  keepDraft(place, 1, { ...draft, ...values })
  return prepareSending(1, { ...draft, ...values }, { ...draft, ...values })
}

describe('the key of an order that is sent', () => {
  it('is the same for the same values, whatever was sent in between', () => {
    dropDraft(place)
    const first = sending()
    const other = sending({ total: '70' })
    assert.notEqual(other.sent.idempotencyKey, first.sent.idempotencyKey)
    assert.notEqual(sending({ customer: 'Acne' }).sent.idempotencyKey, first.sent.idempotencyKey)
    assert.equal(sending().sent.idempotencyKey, first.sent.idempotencyKey)
  })

  it('differs for another person, and after the draft is dropped', () => {
    dropDraft(place)
    const first = sending().sent.idempotencyKey
    keepDraft(place, 2, draft)
    const second = prepareSending(2, draft, draft).sent.idempotencyKey
    assert.notEqual(second, first)
    dropDraft(place)
    keepDraft(place, 2, draft)
    assert.notEqual(prepareSending(2, draft, draft).sent.idempotencyKey, second)
  })
})

it('a late answer belongs to the draft as long as neither of its fields has changed', () => {
  dropDraft(place)
  const sent = sending()
  assert.equal(isStillThere(sent), true)
  keepDraft(place, 1, { ...draft, total: '70' })
  assert.equal(isStillThere(sent), false)
  keepDraft(place, 1, { ...draft, customer: 'Acne' })
  assert.equal(isStillThere(sent), false)
  keepDraft(place, 1, draft)
  assert.equal(isStillThere(sent), true)
  dropDraft(place)
  assert.equal(isStillThere(sent), false)
})

describe('a fault that the service found in the fields', () => {
  const faultsOf = (pointers: string[]) => {
    const errors = pointers.map((pointer) => ({
      pointer,
      code: 'x',
      detail: `${pointer.slice(2)} is wrong.`,
    }))
    const problem = { code: 'validation-failed', status: 400, detail: '', errors } as unknown as Problem
    return refusalsOf(new ProblemError(problem, undefined), ['customer', 'total'])
  }

  it('is shown at each field', () => {
    assert.deepEqual(faultsOf(['#/total']), { total: 'The total is wrong.' })
    assert.deepEqual(faultsOf(['#/customer', '#/total']), {
      customer: 'The customer is wrong.',
      total: 'The total is wrong.',
    })
  })

  it('is shown as one message if some of it is not about a field', () => {
    assert.equal(faultsOf(['#/total', '#/other']), undefined)
    assert.equal(faultsOf([]), undefined)
  })
})

it('a duplicate begins with the values of its order, replacing what was typed', () => {
  keepDraft(place, 1, draft)
  draftLike(1, { customer: 'Müller', total: 99_999_999_999.9999 })
  const { customer, total } = read()
  assert.equal(customer, 'Müller')
  assert.deepEqual(readTotal(total, notation), {
    ok: true,
    wire: '99999999999.9999',
    meaning: notation.write('99999999999.9999'),
  })
  draftLike(1, { customer: 'Müller', total: 5 })
  assert.equal(readTotal(read().total, notation).ok, true)
})
