import { memo } from 'react'
import { stateNames, words } from '../../orders/states.ts'
import { formatDay } from '../../ui/format.ts'
import { countOf, type Day, type Tally, tallyOf, totalOf } from '../figures.ts'
import { formatFigure, formatWeekday } from '../words.ts'
import { type DayName, dayNames, isWeekend, type Marks, marksTo } from './axis.ts'

/** Two charts on one axis of days: how many orders, and what they are worth. A picture only: it takes no focus. */
export const DayPlot = memo(function DayPlot({ days }: { days: readonly Day[] }) {
  const largest = (of: (day: Day) => number) => days.reduce((most, day) => Math.max(most, of(day)), 0)
  const counts = marksTo(largest(countOf), 4, true)
  const isEmpty = counts.length === 1
  return (
    <>
      <Panel days={days} measure="count" marks={counts} />
      {isEmpty && <p className="plot-empty">No orders on these days</p>}
      <p className="plot-name">Value per day</p>
      <Panel days={days} measure="total" marks={marksTo(largest(totalOf), 2, false)} />
      <div className="plot-days">
        {dayNames(days.map(({ date }) => date)).map((name) => (
          <Name key={name.index} {...name} days={days} />
        ))}
      </div>
    </>
  )
})

interface PanelProps {
  days: readonly Day[]
  measure: keyof Tally
  marks: Marks
}

function Panel({ days, measure, marks }: PanelProps) {
  const top = marks.at(-1) || 1
  return (
    <>
      <div className="plot-marks">
        {marks.map((mark) => (
          <span key={mark}>{formatFigure(mark)}</span>
        ))}
      </div>
      <div className="plot">
        <div className="plot-lines">
          {marks.map((mark) => (
            <hr key={mark} />
          ))}
        </div>
        {days.map((day) => (
          <div key={day.date} className={isWeekend(day.date) ? 'plot-day plot-weekend' : 'plot-day'}>
            {stateNames.map((name) => (
              <Bar key={name} name={name} share={tallyOf(day, name)[measure] / top} />
            ))}
          </div>
        ))}
      </div>
    </>
  )
}

/** Full or hollow, as the sign of its state is; the last state is the foot of the pile. */
function Bar({ name, share }: { name: (typeof stateNames)[number]; share: number }) {
  if (share === 0) return null
  const { tone, isFull } = words[name]
  return <i className={`bar tone-${tone} ${isFull ? 'is-full' : ''}`} style={{ height: `${100 * share}%` }} />
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
