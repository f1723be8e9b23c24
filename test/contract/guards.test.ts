import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { guards } from '../../tools/guards/list.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** `npm run test:guards` breaks them, and shows that the tests notice; this keeps its list from rotting. */
describe('the list of guards to break', () => {
  it('names each guard once, and at least thirty-six', () => {
    assert.equal(new Set(guards.map(({ id }) => id)).size, guards.length)
    assert.ok(guards.length >= 36, `${guards.length} guards`)
  })

  it('names tests that there are', () => {
    for (const { id, tests } of guards) {
      assert.ok(tests.length > 0, id)
      for (const file of tests)
        assert.ok(/\.test\.ts$/.test(file) && existsSync(join(root, file)), `${id}: ${file}`)
    }
  })
})
