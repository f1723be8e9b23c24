/** Bits that follow the instant in an order's number. */
const countBits = 18n

/**
 * The number of an order, for the index of trigrams, which knows rows by a number alone: the instant of the order's id
 * (UUIDv7, 48 bits) and the 18 bits after it that are no constants. So the numbers are in the order of the ids, which is that
 * of creation.
 */
export function orderNumber(id: string): bigint {
  const instant = BigInt(`0x${id.slice(0, 8)}${id.slice(9, 13)}`)
  const count = (Number.parseInt(id.slice(15, 18), 16) << 6) | (Number.parseInt(id.slice(19, 21), 16) & 0x3f)
  return (instant << countBits) | BigInt(count)
}
