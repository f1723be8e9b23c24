/** The exact sum as decimal text: a double cannot hold the sum of a hundred totals of fifteen digits. */
export function sumOfTotals(totals: readonly number[]): `${number}` {
  const sum = totals.reduce((subtotal, total) => subtotal + tenThousandths(total), 0n)
  const digits = String(sum).padStart(5, '0')
  return `${digits.slice(0, -4)}.${digits.slice(-4)}` as `${number}`
}

/**
 * Totals have at most four places and eleven digits before them: rounded to four places, a double is exact.
 */
function tenThousandths(total: number): bigint {
  return BigInt(total.toFixed(4).replace('.', ''))
}
