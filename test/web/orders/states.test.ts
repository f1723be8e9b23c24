import assert from 'node:assert/strict'
import { it } from 'node:test'
import { shownAs } from '../../../web/src/orders/states.ts'

it('a status is shown by its name and sign, and one that only a newer service knows by its number', () => {
  assert.deepEqual(shownAs(0), { word: 'Pending', className: 'sign tone-wait' })
  assert.deepEqual(shownAs(1), { word: 'Approved', className: 'sign is-full tone-good' })
  assert.deepEqual(shownAs(99), { word: 'Status 99', className: 'sign' })
})
