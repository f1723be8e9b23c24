import { memo } from 'react'
import { classesOf, stateNames } from '../../orders/states.ts'
import { formatDay, formatShortTotal } from '../../ui/format.ts'
import { countOf, type Day, type Tally, tallyOf, totalOf } from '../figures.ts'
import { formatFigure, formatWeekday } from '../words.ts'
import { type DayName, dayNames, isWeekend, type Marks, marksTo, reachOf } from './axis.ts'

/** Two charts on one axis of days: the number of orders and their value. A picture that takes no focus. */
export const DayPlot = memo(function DayPlot({ days }: { days: readonly Day[] }) {
  const counts = marksTo(reachOf(days.map(countOf)), 4, true)
  const isEmpty = counts.length === 1
  return (
    <>
      <Panel days={days} measure="count" marks={counts} />
      {isEmpty && <p className="plot-empty">No orders on these days</p>}
      <p className="plot-name">Value per day</p>
      <Panel days={days} measure="total" marks={marksTo(reachOf(days.map(totalOf)), 2, false)} />
      <div className="plot-days">
        {dayNames(days.map(({ date }) => date)).map((name) => (
          <Name key={name.index} {...name} days={days} />
        ))}
      </div>
    </>
  )
})

/** Whether a bar does not fit on its axis. */
export function isCut(days: readonly Day[]): boolean {
  return [countOf, totalOf].some((of) => {
    const values = days.map(of)
    return Math.max(...values) > reachOf(values)
  })
}

interface PanelProps {
  days: readonly Day[]
  measure: keyof Tally
  marks: Marks
}

function Panel({ days, measure, marks }: PanelProps) {
  const top = marks.at(-1) || 1
  const [of, format] = measure === 'count' ? [countOf, formatFigure] : [totalOf, formatShortTotal]
  return (
    <>
      <div className="plot-marks">
        {marks.map((mark) => (
          <span key={mark}>{format(mark)}</span>
        ))}
      </div>
      <div className="plot">
        <div className="plot-lines">
          {marks.map((mark) => (
            <hr key={mark} />
          ))}
        </div>
        {days.map((day) => {
          const height = Math.max(of(day), top)
          return (
            <div key={day.date} className={isWeekend(day.date) ? 'plot-day plot-weekend' : 'plot-day'}>
              {stateNames.map((name) => (
                <Bar key={name} name={name} share={tallyOf(day, name)[measure] / height} />
              ))}
              {height > top && <i className="plot-cut" />}
            </div>
          )
        })}
      </div>
    </>
  )
}

/** Drawn like the sign of its state; the last state is at the bottom of the stack. */
function Bar({ name, share }: { name: (typeof stateNames)[number]; share: number }) {
  if (share === 0) return null
  return <i className={`bar ${classesOf(name)}`} style={{ height: `${100 * share}%` }} />
}

function Name({ index, kind, days }: DayName & { days: readonly Day[] }) {
  const date = days[index]?.date ?? ''
  const isAtEnd = kind === 'today' && days.length > 7
  return (
    <span
      className={`plot-${kind}`}
      style={isAtEnd ? { right: 0 } : { left: `${(100 * (index + 0.5)) / days.length}%`, translate: '-50%' }}
    >
      {kind === 'today' ? 'Today' : kind === 'weekday' ? formatWeekday(date) : formatDay(date)}
    </span>
  )
}
