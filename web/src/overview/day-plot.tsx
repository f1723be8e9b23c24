import { memo } from 'react'
import { formatDay } from '../ui/format.ts'
import type { Day } from './figures.ts'
import { type Layout, type Panel, size } from './plot-layout.ts'
import { dayMarks, heightOf, isWeekend } from './scale.ts'
import { formatFigure, formatWeekday } from './words.ts'

interface DayPlotProps {
  days: readonly Day[]
  layout: Layout
  cursor: number | null
}

/** Two charts on one axis of days: how many orders, and what they are worth. A picture only: it takes no focus. */
export function DayPlot({ days, layout, cursor }: DayPlotProps) {
  const { columns, width } = layout
  return (
    <svg className="plot" viewBox={`0 0 ${width} ${size.height}`} aria-hidden="true" focusable="false">
      {cursor !== null && (
        <rect
          className="plot-cursor"
          x={columns.startOf(cursor)}
          y={0}
          width={columns.startOf(cursor + 1) - columns.startOf(cursor)}
          height={size.height}
          rx={4}
        />
      )}
      <Drawing days={days} layout={layout} />
    </svg>
  )
}

interface PartProps {
  days: readonly Day[]
  layout: Layout
}

/** Everything that stays as it is while the cursor moves. */
const Drawing = memo(function Drawing({ days, layout }: PartProps) {
  const { panels, columns } = layout
  const isEmpty = panels.every(({ axis }) => axis.marks.length === 1)
  return (
    <>
      {panels.map((panel) => (
        <g key={panel.measure}>
          <Weekends days={days} layout={layout} panel={panel} />
          <Lines layout={layout} panel={panel} />
          {days.map((day, index) => (
            <Bar key={day.date} day={day} x={columns.barAt(index)} width={columns.barWidth} panel={panel} />
          ))}
        </g>
      ))}
      <text className="plot-name" x={0} y={size.value.top - 15}>
        Value per day
      </text>
      {isEmpty && (
        <text
          x={(columns.from + columns.to) / 2}
          y={(size.count.top + size.count.bottom) / 2}
          textAnchor="middle"
        >
          No orders in these days
        </text>
      )}
      <DayNames days={days} layout={layout} />
    </>
  )
})

function Weekends({ days, layout: { columns }, panel: { top, bottom } }: PartProps & { panel: Panel }) {
  return days.map(({ date }, index) => {
    if (!isWeekend(date)) return null
    const x = columns.startOf(index)
    const width = columns.startOf(index + 1) - x
    return <rect key={date} className="plot-weekend" x={x} y={top} width={width} height={bottom - top} />
  })
}

function Lines({ layout: { columns }, panel: { axis, top, bottom } }: { layout: Layout; panel: Panel }) {
  return axis.marks.map((mark) => {
    // Lines of one pixel are sharp on halves.
    const y = bottom + 0.5 - Math.round((mark / axis.top) * (bottom - top))
    const className = mark === 0 ? 'plot-base' : 'plot-line'
    return (
      <g key={mark}>
        <line className={className} x1={columns.from} x2={columns.to} y1={y} y2={y} />
        <text x={0} y={y} dy="0.34em">
          {formatFigure(mark)}
        </text>
      </g>
    )
  })
}

interface BarProps {
  day: Day
  x: number
  width: number
  panel: Panel
}

/** From this size on a pending part is hollow, as its sign is; a smaller one could not be. */
const hollowFrom = 4

/** Approved orders full, pending ones hollow on top of them, with a gap between. */
function Bar({ day, x, width, panel: { measure, axis, top, bottom } }: BarProps) {
  const approved = heightOf(day.approved[measure], axis, bottom - top)
  const pending = heightOf(day.pending[measure], axis, bottom - top)
  const gap = approved > 0 && pending > hollowFrom ? 2 : 0
  const isHollow = width >= hollowFrom && pending - gap >= hollowFrom
  // The edge of a hollow part is drawn along the middle of a line of one pixel.
  const inset = isHollow ? 0.5 : 0
  const radius = width >= hollowFrom ? 2 : 0
  return (
    <>
      {approved > 0 && (
        <rect
          className="bar-approved"
          x={x}
          y={bottom - approved}
          width={width}
          height={approved}
          rx={radius}
        />
      )}
      {pending > 0 && (
        <rect
          className={isHollow ? 'bar-pending bar-hollow' : 'bar-pending'}
          x={x + inset}
          y={bottom - approved - pending + inset}
          width={width - 2 * inset}
          height={pending - gap - 2 * inset}
          rx={radius}
        />
      )}
    </>
  )
}

/** A name under a narrow last column would stick out. */
const roomForToday = 44

function DayNames({ days, layout: { columns } }: PartProps) {
  const dates = days.map(({ date }) => date)
  return dayMarks(dates, columns.pitch).map(({ index, kind }) => {
    const isAtEnd = kind === 'today' && columns.pitch < roomForToday
    const date = dates[index] ?? ''
    return (
      <text
        key={index}
        className={kind === 'today' ? 'plot-today' : undefined}
        x={isAtEnd ? columns.to : columns.centreOf(index)}
        y={size.value.bottom + 20}
        textAnchor={isAtEnd ? 'end' : 'middle'}
      >
        {kind === 'today' ? 'Today' : kind === 'day' ? formatDay(date) : formatWeekday(date)}
      </text>
    )
  })
}
