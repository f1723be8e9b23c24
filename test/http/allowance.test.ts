import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Allowance, hourMilliseconds } from '../../server/http/allowance.ts'

it('bytes that did not come are given back to the hour in which they were announced', () => {
  let now = 0
  const allowance = new Allowance(100, () => now)
  const giveBack = allowance.take(1, 60)
  assert.throws(() => allowance.take(1, 41), { code: 'rate-limited' })
  allowance.take(2, 100)
  giveBack(20)
  allowance.take(1, 60)
  now += hourMilliseconds
  allowance.take(1, 100)
  giveBack(40)
  assert.throws(() => allowance.take(1, 1), { code: 'rate-limited' })
})
