import './chart.css'
import { type PointerEvent, type ReactNode, useRef, useState } from 'react'
import { stateNames } from '../../orders/states.ts'
import { StateLabel } from '../../orders/status.tsx'
import { formatCount, formatDay, formatLongDay, formatShortTotal, formatTotal } from '../../ui/format.ts'
import { countOf, type Day, type Tallies, tallyOf, totalOf } from '../figures.ts'
import { formatFigure } from '../words.ts'
import { DayPlot, isCut } from './plot.tsx'

interface DayChartProps {
  /** At least one day; the last is today. */
  days: readonly Day[]
  span: Tallies
  choice: ReactNode
  /** The chosen span is loading, and the figures are still those of the previous one. */
  isOld: boolean
}

/**
 * Orders and their value for each day. Above the chart are the sums of the span, or the numbers of one day:
 * under the pointer, or chosen with the arrow keys.
 */
export function DayChart({ days, span, choice, isOld }: DayChartProps) {
  const [chosen, setChosen] = useState<number | null>(null)
  const cursor = chosen === null ? null : Math.min(chosen, days.length - 1)
  const day = cursor === null ? undefined : days[cursor]
  return (
    <figure
      className="card card-stack gap-3 day-chart"
      data-old={isOld || undefined}
      aria-labelledby="day-chart-title"
    >
      <div className="row row-between">
        <h2 id="day-chart-title">Orders per day</h2>
        {choice}
      </div>
      {day ? (
        <Readout title={formatLongDay(day.date)} tallies={day} value={formatTotal(totalOf(day))} />
      ) : (
        <Readout title={spanWords(days)} tallies={span} value={formatShortTotal(totalOf(span))} />
      )}
      <Stage days={days} cursor={cursor} onCursor={setChosen} />
      <figcaption className="soft small">
        By day of creation and current status. Today is not over yet.
        {isCut(days) && ' Broken bars are higher than shown: point at one for its numbers.'}
      </figcaption>
    </figure>
  )
}

function spanWords(days: readonly Day[]): string {
  return `${formatDay(days[0]?.date ?? '')} – ${formatDay(days.at(-1)?.date ?? '')}`
}

/** The legend, with numbers that change in place, so that nothing moves. */
function Readout({ title, tallies, value }: { title: string; tallies: Tallies; value: string }) {
  return (
    <div className="row row-between label readout">
      <p>{title}</p>
      <dl className="row row-between">
        {stateNames.map((name) => (
          <div key={name}>
            <dt className="soft small">
              <StateLabel name={name} />
            </dt>
            <dd>{formatFigure(tallyOf(tallies, name).count)}</dd>
          </div>
        ))}
        <div>
          <dt className="soft small">Value</dt>
          <dd>{value}</dd>
        </div>
      </dl>
    </div>
  )
}

interface StageProps {
  days: readonly Day[]
  cursor: number | null
  onCursor(index: number | null): void
}

/** The drawing, under an invisible slider that lets the keyboard and screen readers go from day to day. */
function Stage({ days, cursor, onCursor }: StageProps) {
  const slider = useRef<HTMLInputElement>(null)
  // After a tap or a click, the focus ring would only be in the way.
  const [isPointed, setPointed] = useState(false)
  const last = days.length - 1
  const at = cursor ?? last
  const width = 100 / days.length

  function point({ currentTarget, clientX }: PointerEvent<HTMLElement>) {
    const plot = currentTarget.querySelector('.plot')?.getBoundingClientRect()
    if (!plot) return
    const index = Math.floor(((clientX - plot.left) / plot.width) * days.length)
    onCursor(Math.min(Math.max(index, 0), last))
  }
  function press(event: PointerEvent<HTMLElement>) {
    // The arrow keys continue from here.
    event.preventDefault()
    setPointed(true)
    slider.current?.focus({ preventScroll: true })
    point(event)
  }
  function leave() {
    if (document.activeElement !== slider.current) onCursor(null)
  }
  return (
    <div
      className="stage"
      data-pointed={isPointed || undefined}
      onPointerMove={point}
      onPointerDown={press}
      onPointerLeave={leave}
    >
      <input
        ref={slider}
        className="cover"
        type="range"
        aria-label="Day"
        aria-valuetext={dayWords(days[at])}
        min={0}
        max={last}
        value={at}
        onChange={(event) => onCursor(event.target.valueAsNumber)}
        onFocus={() => onCursor(at)}
        onKeyDown={() => setPointed(false)}
        onBlur={() => {
          onCursor(null)
          setPointed(false)
        }}
      />
      <div className="plots" aria-hidden="true">
        {cursor !== null && (
          <div className="plot-cursor" style={{ left: `${cursor * width}%`, width: `${width}%` }} />
        )}
        <DayPlot days={days} />
      </div>
    </div>
  )
}

function dayWords(day: Day | undefined): string {
  if (day === undefined) return ''
  const date = formatLongDay(day.date)
  if (countOf(day) === 0) return `${date}: no orders`
  const counts = stateNames
    .filter((name) => tallyOf(day, name).count > 0)
    .map((name) => `${formatCount(tallyOf(day, name).count)} ${name.toLowerCase()}`)
  return `${date}: ${counts.join(', ')}, value ${formatTotal(totalOf(day))}`
}
