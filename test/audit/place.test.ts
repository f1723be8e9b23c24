// engine: none
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { isBefore, nowhere, readPlace, spellPlace } from '../../proof/place.ts'

it('a place is read in one spelling, and is before those of later lines and eras', () => {
  const texts = ['1.0', '1.9', '1.10', '2.3', '999999999.999999999999999']
  const places = texts.map(readPlace)
  assert.deepEqual(places.map(spellPlace), texts)
  for (const [at, one] of places.entries()) {
    const later = places.map((other) => isBefore(one, other))
    assert.deepEqual(
      later,
      places.map((_, index) => at < index),
    )
  }
  const others = ['', '1.1 ', ...'1 0.1 01.1 1.01 1.-1 1.1000000000000000 1000000000.1 1.1.1'.split(' ')]
  for (const text of others) assert.deepEqual(readPlace(text), nowhere, text)
})
