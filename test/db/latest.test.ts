// engine: none
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Latest } from '../../server/db/latest.ts'

it('of more entries than the limit, the latest stay', () => {
  const latest = new Latest<number>(2)
  for (const [key, value] of [...'abac'].entries()) latest.set(value, key)
  assert.deepEqual(
    [...latest],
    [
      ['a', 2],
      ['c', 3],
    ],
  )
})
