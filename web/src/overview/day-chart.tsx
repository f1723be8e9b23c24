import './day-chart.css'
import { type PointerEvent, type ReactNode, type Ref, useMemo, useRef, useState } from 'react'
import { formatCount, formatDay, formatLongDay, formatTotal } from '../ui/format.ts'
import { DayPlot } from './day-plot.tsx'
import { countOf, type Day, type Tallies, totalOf } from './figures.ts'
import { layOut, skeletonDays } from './plot-layout.ts'
import { useWidth } from './use-width.ts'
import { formatFigure } from './words.ts'

interface DayChartProps {
  /** At least one day; the last is today. */
  days: readonly Day[]
  span: Tallies
  choice: ReactNode
  /** The span is not the chosen one, which is on its way. */
  isOld: boolean
}

/**
 * Orders and their value for each day. Above it stand the sums of the span, or the numbers of one day: that under the
 * pointer or the finger, or the one that the arrow keys went to.
 */
export function DayChart({ days, span, choice, isOld }: DayChartProps) {
  const [chosen, setChosen] = useState<number | null>(null)
  const cursor = chosen === null ? null : Math.min(chosen, days.length - 1)
  const day = cursor === null ? undefined : days[cursor]
  return (
    <Frame choice={choice} isOld={isOld}>
      {day ? (
        <Readout title={formatLongDay(day.date)} tallies={day} value={formatTotal(totalOf(day))} />
      ) : (
        <Readout title={spanWords(days)} tallies={span} value={formatFigure(totalOf(span))} />
      )}
      <Stage days={days} cursor={cursor} onCursor={setChosen} />
      <figcaption className="soft small">
        By the day of creation and the status they have now. Days are those of UTC; today is not over.
      </figcaption>
    </Frame>
  )
}

interface FrameProps {
  choice: ReactNode
  isOld?: boolean
  children: ReactNode
}

function Frame({ choice, isOld, children }: FrameProps) {
  return (
    <figure className="card day-chart" data-old={isOld || undefined} aria-labelledby="day-chart-title">
      <div className="day-chart-head">
        <h2 id="day-chart-title">Orders per day</h2>
        {choice}
      </div>
      {children}
    </figure>
  )
}

function spanWords(days: readonly Day[]): string {
  const first = days[0]?.date ?? ''
  const last = days.at(-1)?.date ?? ''
  return `${formatDay(first)} – ${formatDay(last)}`
}

/** The legend of the chart, with the numbers in it: they change in their place, so that nothing moves. */
function Readout({ title, tallies, value }: { title: string; tallies: Tallies; value: string }) {
  return (
    <div className="readout">
      <p className="readout-title">{title}</p>
      <dl>
        <Reading name="Pending" kind="pending" value={formatFigure(tallies.pending.count)} />
        <Reading name="Approved" kind="approved" value={formatFigure(tallies.approved.count)} />
        <Reading name="Value" value={value} />
      </dl>
    </div>
  )
}

function Reading({ name, kind, value }: { name: string; kind?: 'pending' | 'approved'; value: ReactNode }) {
  return (
    <div>
      <dt className="soft small">
        {kind && <span className={`swatch sign-${kind}`} />}
        {name}
      </dt>
      <dd className="number">{value}</dd>
    </div>
  )
}

interface StageProps {
  days: readonly Day[]
  cursor: number | null
  onCursor(index: number | null): void
}

/** The drawing, and an unseen slider over it, with which the keyboard and screen readers go from day to day. */
function Stage({ days, cursor, onCursor }: StageProps) {
  const stage = useRef<HTMLDivElement>(null)
  const slider = useRef<HTMLInputElement>(null)
  const width = useWidth(stage)
  const [isPointed, setPointed] = useState(false)
  const layout = useMemo(() => layOut(days, width), [days, width])

  function point(event: PointerEvent<HTMLDivElement>) {
    const { left } = event.currentTarget.getBoundingClientRect()
    onCursor(layout.columns.indexAt(event.clientX - left))
  }
  function press(event: PointerEvent<HTMLDivElement>) {
    // The arrow keys go on from here.
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
      ref={stage}
      className="stage"
      data-pointed={isPointed || undefined}
      onPointerMove={point}
      onPointerDown={press}
      onPointerLeave={leave}
    >
      <DaySlider ref={slider} {...{ days, cursor, onCursor }} onUnpoint={() => setPointed(false)} />
      <DayPlot days={days} layout={layout} cursor={cursor} />
    </div>
  )
}

interface DaySliderProps extends StageProps {
  ref: Ref<HTMLInputElement>
  /** The keyboard has taken over from the pointer, or nobody is there any more. */
  onUnpoint(): void
}

function DaySlider({ ref, days, cursor, onCursor, onUnpoint }: DaySliderProps) {
  const last = days.length - 1
  return (
    <input
      ref={ref}
      type="range"
      className="stage-slider"
      aria-label="Day"
      aria-valuetext={dayWords(days[cursor ?? last])}
      min={0}
      max={last}
      value={cursor ?? last}
      onChange={(event) => onCursor(event.target.valueAsNumber)}
      onFocus={() => onCursor(cursor ?? last)}
      onKeyDown={onUnpoint}
      onBlur={() => {
        onCursor(null)
        onUnpoint()
      }}
    />
  )
}

function dayWords(day: Day | undefined): string {
  if (day === undefined) return ''
  const { date, pending, approved } = day
  if (countOf(day) === 0) return `${formatLongDay(date)}: no orders`
  const counts = `${formatCount(pending.count)} pending, ${formatCount(approved.count)} approved`
  return `${formatLongDay(date)}: ${counts}, value ${formatTotal(totalOf(day))}`
}

/** Stands where the chart will. */
export function DayChartSkeleton({ choice, span }: { choice: ReactNode; span: number }) {
  const stage = useRef<HTMLDivElement>(null)
  const width = useWidth(stage)
  const days = skeletonDays(span)
  const waiting = <span className="skeleton" />
  return (
    <Frame choice={choice}>
      <div className="readout">
        <p className="readout-title">{waiting}</p>
        <dl>
          <Reading name="Pending" kind="pending" value={waiting} />
          <Reading name="Approved" kind="approved" value={waiting} />
          <Reading name="Value" value={waiting} />
        </dl>
      </div>
      <div ref={stage} className="stage stage-waiting">
        <DayPlot days={days} layout={layOut(days, width)} cursor={null} />
      </div>
      <figcaption className="soft small">
        <span className="skeleton" />
      </figcaption>
    </Frame>
  )
}
