import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
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

  it('has the very text of each guard, once in its file, and something else in its place', () => {
    for (const { id, edits } of guards) {
      assert.ok(edits.length > 0, id)
      for (const { file, from, to } of edits) {
        const times = readFileSync(join(root, file), 'utf8').split(from).length - 1
        assert.equal(times, 1, `${id}: ${file} has ${times} times: ${from}`)
        assert.notEqual(to, from, id)
      }
    }
  })

  it('names tests that there are', () => {
    for (const { id, tests } of guards) {
      assert.ok(tests.length > 0, id)
      for (const file of tests)
        assert.ok(/\.test\.ts$/.test(file) && existsSync(join(root, file)), `${id}: ${file}`)
    }
  })
})
