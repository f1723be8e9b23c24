import assert from 'node:assert/strict'
import { it } from 'node:test'
import { allows, isOpen, shownAs, stateNames, words } from '../../../web/src/orders/states.ts'

it('a status is shown by name and sign, or by number if only a newer service knows it', () => {
  assert.deepEqual(shownAs(0), { word: 'Pending', className: 'sign tone-wait is-hollow' })
  assert.deepEqual(shownAs(1), { word: 'Approved', className: 'sign tone-good is-full' })
  assert.deepEqual(shownAs(99), { word: 'Status 99', className: 'sign' })
})

it('no two states have the same shape or the same colours', () => {
  const forms = new Set(stateNames.map((name) => words[name].form))
  const tones = new Set(stateNames.map((name) => words[name].tone))
  assert.deepEqual([forms.size, tones.size], [stateNames.length, stateNames.length])
})

it('a status allows what the transitions allow; one that only a newer service knows allows nothing', () => {
  assert.deepEqual([allows(0, 'approve'), allows(1, 'approve'), allows(99, 'approve')], [true, false, false])
  assert.deepEqual([0, 1, 2, 3, 99].map(isOpen), [true, false, false, false, false])
})
