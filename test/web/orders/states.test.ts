import assert from 'node:assert/strict'
import { it } from 'node:test'
import { shownAs, stateNames, words } from '../../../web/src/orders/states.ts'

it('a status is shown by its name and sign, and one that only a newer service knows by its number', () => {
  assert.deepEqual(shownAs(0), { word: 'Pending', className: 'sign tone-wait is-hollow' })
  assert.deepEqual(shownAs(1), { word: 'Approved', className: 'sign tone-good is-full' })
  assert.deepEqual(shownAs(99), { word: 'Status 99', className: 'sign' })
})

it('no two states have the same form or the same colours', () => {
  const forms = new Set(stateNames.map((name) => words[name].form))
  const tones = new Set(stateNames.map((name) => words[name].tone))
  assert.deepEqual([forms.size, tones.size], [stateNames.length, stateNames.length])
})
