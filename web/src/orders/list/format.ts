import { formatExactInstant, formatInstant, formatTotal } from '../../ui/format.ts'

const most = 2_000

/** Remembers its results: formatting is the slowest part of drawing a row. */
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
