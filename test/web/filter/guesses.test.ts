import assert from 'node:assert/strict'
import { it } from 'node:test'
import { FilterError } from '../../../server/orders/filter/fault.ts'
import { askedOf } from '../../../web/src/orders/filter/days.ts'
import { guessesFor } from '../../../web/src/orders/filter/guesses.ts'
import { forAll } from '../../support/for-all.ts'
import { anyText, meaningOf } from './texts.ts'
import { beginInUtc } from './zone.ts'

beginInUtc()
const now = Date.UTC(2026, 10, 28, 12)

it('a word of people is taken for a search', () => {
  const guesses: Record<string, string[]> = {
    '726.34': ['total=726.34'],
    '€726.34': ['total=726.34'],
    '1.709,39 EUR': ['total=1709.39'],
    "CHF 12'500.5": ['total=12500.5'],
    '1,250': ['total=1250'],
    '250': ['total=250', 'number=250'],
    Today: ['createdAtUtc>=2026-11-28'],
    yesterday: ['createdAtUtc=2026-11-27'],
    '2026-11-05': ['createdAtUtc=2026-11-05'],
    approved: ['status=Approved'],
    operator: ['createdBy=operator', 'approvedBy=operator'],
    'Acme Ltd': [],
    'total=7': [],
    'a OR b': [],
    '': [],
  }
  for (const [text, expected] of Object.entries(guesses)) assert.deepEqual(guessesFor(text, now), expected)
})

it('a guess is always a filter, whatever the text', () => {
  forAll(500, anyText, (text) => {
    for (const guess of guessesFor(text, now)) {
      assert.ok(!(meaningOf(askedOf(guess).text) instanceof FilterError), guess)
    }
  })
})
