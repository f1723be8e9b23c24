import { countOf, type Day, totalOf } from './figures.ts'
import { type Axis, type Columns, columnsBetween, roundAxis } from './scale.ts'
import { formatFigure } from './words.ts'

/** Pixels: the drawing is as wide as its place, and never stretched. */
export const size = {
  height: 300,
  end: 4,
  count: { top: 8, bottom: 170 },
  value: { top: 212, bottom: 274 },
}

export interface Panel {
  measure: 'count' | 'total'
  axis: Axis
  top: number
  bottom: number
}

export interface Layout {
  width: number
  panels: Panel[]
  columns: Columns
}

const digitPixels = 7.6
const leastGutter = 43

/** Where everything stands. The columns begin where the longest number of the axes has room before them. */
export function layOut(days: readonly Day[], width: number): Layout {
  const largest = (of: (day: Day) => number) => days.reduce((most, day) => Math.max(most, of(day)), 0)
  const panels: Panel[] = [
    { measure: 'count', axis: roundAxis(largest(countOf), 4, true), ...size.count },
    { measure: 'total', axis: roundAxis(largest(totalOf), 2, false), ...size.value },
  ]
  const lengths = panels.flatMap(({ axis }) => axis.marks.map((mark) => formatFigure(mark).length))
  const gutter = Math.max(leastGutter, Math.ceil(Math.max(...lengths) * digitPixels) + 12)
  const to = Math.max(width - size.end, gutter + days.length)
  return { width: to + size.end, panels, columns: columnsBetween(gutter, to, days.length) }
}

/** Days that look like days, for a drawing that stands where the real one will. */
export function skeletonDays(count: number): Day[] {
  const nothing = { count: 0, total: 0 }
  return Array.from({ length: count }, (_, index) => {
    const height = 4 + 2 * Math.sin(index * 0.9) + Math.sin(index * 2.3)
    return {
      date: new Date(index * 86_400_000).toISOString().slice(0, 10),
      pending: nothing,
      approved: { count: Math.round(height), total: height ** 2 },
    }
  })
}
