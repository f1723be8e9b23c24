// engine: none
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
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
