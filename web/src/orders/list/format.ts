import { formatExactInstant, formatInstant, formatTotal, leastDecimals } from '../../ui/format.ts'

const most = 2_000

/** The same, remembered: formatting is the dearest part of drawing a row. */
export function remembered<Value>(format: (value: Value) => string): (value: Value) => string {
  const known = new Map<Value, string>()
  return (value) => {
    const before = known.get(value)
    if (before !== undefined) return before
    if (known.size >= most) known.clear()
    const text = format(value)
    known.set(value, text)
    return text
  }
}

export const totalText = remembered(formatTotal)
export const instantText = remembered(formatInstant)
export const exactInstantText = remembered(formatExactInstant)

const mostDecimals = 4

/** What a total lacks to the right of what `formatTotal` writes: as wide on every page, so that nothing shifts. */
export function lackingDigits(total: number): string {
  const decimals = Math.max(leastDecimals, String(total).split('.')[1]?.length ?? 0)
  const zeros = '0'.repeat(mostDecimals - decimals)
  return decimals === 0 ? `.${zeros}` : zeros
}
