// engine: none
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { drawn } from '../tools/guards/drawn.ts'
import { guards } from '../tools/guards/list.ts'
import { allPlaces, placesOf } from '../tools/guards/places.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

it('each guard that can be broken has a place in the code, and a test file', () => {
  const everywhere = allPlaces(root)
  for (const [test, list] of Object.entries(guards)) {
    assert.ok(existsSync(`${root}test/${test}.test.ts`), test)
    for (const [broken, kind, source, within] of list) {
      assert.ok(placesOf({ kind, source, within }, everywhere).length > 0, `${test}: ${broken}`)
    }
  }
})

it('places are drawn once, from folders that exist, with the tests of client/ where they belong', () => {
  const places = drawn(root, 40, 'x', ['client', 'client/src'])
  assert.equal(new Set(places.map((place) => JSON.stringify(place))).size, 40)
  assert.ok(places.some(({ tests }) => tests.some((test) => test.startsWith('test/client/'))))
  assert.throws(() => drawn(root, 40, 'x', ['server', 'sever']), /no code in sever/)
})
