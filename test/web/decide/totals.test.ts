import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { sumOfTotals } from '../../../web/src/orders/decide/totals.ts'
import { forAll } from '../../support/for-all.ts'

const mostTenThousandths = 999_999_999_999_999n

describe('sumOfTotals', () => {
  it('adds decimals without rounding errors', () => {
    assert.equal(sumOfTotals([0.1, 0.2]), '0.3000')
    assert.equal(sumOfTotals([1.005, 0.0001]), '1.0051')
    assert.equal(sumOfTotals([0.0001]), '0.0001')
  })

  it('holds more digits than a double', () => {
    assert.equal(sumOfTotals(Array(100).fill(99_999_999_999.9999)), '9999999999999.9900')
  })

  it('is zero for no totals', () => {
    assert.equal(sumOfTotals([]), '0.0000')
  })

  it('is exact for every total that an order can have', () => {
    const total = fc.bigInt({ min: 1n, max: mostTenThousandths })
    forAll(100, fc.array(total, { maxLength: 100 }), (parts) => {
      const expected = parts.reduce((sum, part) => sum + part, 0n)
      const sum = sumOfTotals(parts.map((part) => Number(`${part}e-4`)))
      assert.equal(BigInt(sum.replace('.', '')), expected)
    })
  })
})
