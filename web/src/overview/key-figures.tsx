import type { ReactNode } from 'react'
import { approved, nameOf, type StateName, stateNames } from '../orders/states.ts'
import { formatCount, formatShortTotal, formatTotal } from '../ui/format.ts'
import { ArrowIcon } from '../ui/icons.tsx'
import { Sign } from './days/chart.tsx'
import { changeOf, countOf, type Figures, type Tally, tallyOf } from './figures.ts'
import { formatFigure, formatShare } from './words.ts'

/** The numbers to take away at a glance. */
export function KeyFigures({ figures }: { figures: Figures }) {
  const { all, days, span, countBefore } = figures
  const orders = countOf(all)
  const share = tallyOf(all, nameOf(approved) ?? 'Approved').count / orders
  return (
    <dl className="card key-figures">
      {stateNames.map((name) => (
        <OfState key={name} name={name} tally={tallyOf(all, name)} />
      ))}
      <KeyFigure
        label={`Last ${days.length} days`}
        figure={<Recent count={countOf(span)} before={countBefore} />}
      >
        {countBefore === undefined
          ? 'nothing before to compare'
          : `${formatFigure(countBefore)} in the ${days.length} days before`}
      </KeyFigure>
      <KeyFigure label="Share approved" figure={formatShare(share * orders, orders)}>
        of <Count count={orders} /> {orders === 1 ? 'order' : 'orders'}
        <progress value={share} aria-hidden="true" />
      </KeyFigure>
    </dl>
  )
}

function OfState({ name, tally: { count, total } }: { name: StateName; tally: Tally }) {
  const label = (
    <>
      <Sign name={name} />
      {name}
    </>
  )
  return (
    <KeyFigure label={label} figure={<Count count={count} />}>
      value{' '}
      <data value={total} title={formatTotal(total)}>
        {formatShortTotal(total)}
      </data>
    </KeyFigure>
  )
}

interface KeyFigureProps {
  label: ReactNode
  figure: ReactNode
  children: ReactNode
}

function KeyFigure({ label, figure, children }: KeyFigureProps) {
  return (
    <div className="key-figure">
      <dt>{label}</dt>
      <dd className="key-figure-number">{figure}</dd>
      <dd className="soft small">{children}</dd>
    </div>
  )
}

/** Rounded for the eye; exact under the pointer, and in the table below. */
function Count({ count }: { count: number }) {
  return (
    <data value={count} title={formatCount(count)}>
      {formatFigure(count)}
    </data>
  )
}

function Recent({ count, before }: { count: number; before: number | undefined }) {
  if (before === undefined) return <Count count={count} />
  const { direction, words } = changeOf(count, before)
  return (
    <>
      <Count count={count} />{' '}
      <span className="change">
        {direction !== 'none' && <ArrowIcon to={direction} />}
        {words}
      </span>
    </>
  )
}
