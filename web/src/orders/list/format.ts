import { formatExactInstant, formatInstant, formatTotal } from '../../ui/format.ts'

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

/** Never shorter than `formatTotal` writes it. */
export function decimalsOf(total: number): number {
  return Math.max(2, String(total).split('.')[1]?.length ?? 0)
}
