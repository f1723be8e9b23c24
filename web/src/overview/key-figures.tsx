import type { ReactNode } from 'react'
import { formatCount, formatShortTotal, formatTotal } from '../ui/format.ts'
import { ArrowIcon } from '../ui/icons.tsx'
import { changeOf, countOf, type Figures } from './figures.ts'
import { formatFigure, formatShare } from './words.ts'

/** The four numbers to take away at a glance. */
export function KeyFigures({ figures }: { figures: Figures }) {
  const { all, days, span, countBefore } = figures
  const count = countOf(span)
  const orders = countOf(all)
  return (
    <dl className="card key-figures">
      <KeyFigure label="Pending" kind="pending" figure={<Count count={all.pending.count} />}>
        value <Value total={all.pending.total} />
      </KeyFigure>
      <KeyFigure label="Approved" kind="approved" figure={<Count count={all.approved.count} />}>
        value <Value total={all.approved.total} />
      </KeyFigure>
      <KeyFigure label={`Last ${days.length} days`} figure={<Recent count={count} before={countBefore} />}>
        {countBefore === undefined
          ? 'nothing before to compare'
          : `${formatFigure(countBefore)} in the ${days.length} days before`}
      </KeyFigure>
      <KeyFigure
        label="Share approved"
        figure={formatShare(all.approved.count, orders)}
        aside={<Ring of={all} />}
      >
        of <Count count={orders} /> {orders === 1 ? 'order' : 'orders'}
      </KeyFigure>
    </dl>
  )
}

interface KeyFigureProps {
  label: string
  /** Shows the sign of that status before the label. */
  kind?: 'pending' | 'approved'
  figure: ReactNode
  aside?: ReactNode
  children: ReactNode
}

function KeyFigure({ label, kind, figure, aside, children }: KeyFigureProps) {
  return (
    <div className="key-figure">
      <dt>
        {kind && <span className={`sign sign-${kind}`} />}
        {label}
      </dt>
      <dd className="key-figure-number">{figure}</dd>
      <dd className="soft small">
        {children}
        {aside}
      </dd>
    </div>
  )
}

/** Rounded for the eye; exact under the pointer, and in the table below. */
function Value({ total }: { total: number }) {
  return (
    <data value={total} title={formatTotal(total)}>
      {formatShortTotal(total)}
    </data>
  )
}

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

/** Approved orders as the strong part of a ring, pending ones as the fine part. Says nothing that is not beside it. */
function Ring({ of: { pending, approved } }: { of: Figures['all'] }) {
  const share = approved.count / (pending.count + approved.count)
  const gap = share > 0 && share < 1 ? 2.5 : 0
  return (
    <svg className="ring" viewBox="0 0 64 64" aria-hidden="true" focusable="false">
      <Arc className="ring-approved" from={gap / 2} to={100 * share - gap / 2} />
      <Arc className="ring-pending" from={100 * share + gap / 2} to={100 - gap / 2} />
    </svg>
  )
}

/** From and to in hundredths of the circle, clockwise from its top. */
function Arc({ className, from, to }: { className: string; from: number; to: number }) {
  if (to <= from) return null
  return (
    <circle
      className={className}
      cx="32"
      cy="32"
      r="25"
      pathLength="100"
      strokeDasharray={`${to - from} 100`}
      strokeDashoffset={-from}
      transform="rotate(-90 32 32)"
    />
  )
}

/** Stands where the figures will. */
export function KeyFiguresSkeleton({ span }: { span: number }) {
  const waiting = { figure: <span className="skeleton" />, children: <span className="skeleton" /> }
  return (
    <dl className="card key-figures">
      <KeyFigure label="Pending" kind="pending" {...waiting} />
      <KeyFigure label="Approved" kind="approved" {...waiting} />
      <KeyFigure label={`Last ${span} days`} {...waiting} />
      <KeyFigure label="Share approved" {...waiting} />
    </dl>
  )
}
