import type { ReactNode } from 'react'
import { approved, nameOf, stateNames } from '../orders/states.ts'
import { StateLabel } from '../orders/status.tsx'
import { formatCount, formatShortTotal, formatTotal } from '../ui/format.ts'
import { ArrowIcon } from '../ui/icons.tsx'
import { changeOf, countOf, type Figures, tallyOf } from './figures.ts'
import { formatFigure, formatShare } from './words.ts'

/** How things are going, in numbers. */
export function KeyFigures({ figures: { all, days, span, countBefore } }: { figures: Figures }) {
  const orders = countOf(all)
  const approvals = tallyOf(all, nameOf(approved) ?? 'Approved').count
  return (
    <dl className="card key-figures">
      {stateNames.map((name) => (
        <KeyFigure
          key={name}
          label={<StateLabel name={name} />}
          figure={<Count count={tallyOf(all, name).count} />}
        >
          total <Worth total={tallyOf(all, name).total} />
        </KeyFigure>
      ))}
      <KeyFigure
        label={`Last ${days.length} days`}
        figure={<Recent count={countOf(span)} before={countBefore} />}
      >
        {countBefore === undefined
          ? 'nothing earlier to compare with'
          : `${formatFigure(countBefore)} in the ${days.length} days before`}
      </KeyFigure>
      <KeyFigure label="Share approved" figure={formatShare(approvals, orders)}>
        of <Count count={orders} /> {orders === 1 ? 'order' : 'orders'}
        <progress value={approvals} max={orders} aria-hidden="true" />
      </KeyFigure>
    </dl>
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
      <dt className="soft small">{label}</dt>
      <dd className="row key-figure-number">{figure}</dd>
      <dd className="soft small">{children}</dd>
    </div>
  )
}

/** Rounded here; exact under the pointer and in the table below. */
function Count({ count }: { count: number }) {
  return (
    <data value={count} title={formatCount(count)}>
      {formatFigure(count)}
    </data>
  )
}

function Worth({ total }: { total: number }) {
  return (
    <data value={total} title={formatTotal(total)}>
      {formatShortTotal(total)}
    </data>
  )
}

function Recent({ count, before }: { count: number; before: number | undefined }) {
  const { direction, words } = changeOf(count, before ?? count)
  return (
    <>
      <Count count={count} />
      {before !== undefined && (
        <span className="change soft small">
          {direction !== 'none' && <ArrowIcon to={direction} />}
          {words}
        </span>
      )}
    </>
  )
}
