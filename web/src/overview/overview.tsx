import './overview.css'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMay, useUser } from '../auth/session.ts'
import type { OrderSummary } from '../orders/order.ts'
import { useIsUnreadable, WithoutReading } from '../orders/without-reading.tsx'
import { FailureNote } from '../ui/failure.tsx'
import { PlusIcon } from '../ui/icons.tsx'
import mark from '../ui/mark.svg'
import { PageTitle } from '../ui/page-title.tsx'
import { Segments } from '../ui/segments.tsx'
import { DayChart } from './days/chart.tsx'
import { DayTable } from './days/table.tsx'
import { countOf, type Figures, readFigures } from './figures.ts'
import { KeyFigures } from './key-figures.tsx'
import { Oldest, pendingOldestFirst } from './oldest.tsx'
import { overviewQuery } from './queries.ts'
import { defaultSpan, type Span, spans } from './span.ts'
import { formatOrders, greetingAt, waitingWords } from './words.ts'

/** What a person sees first: what waits, how it goes, and the way to both. */
export function OverviewView() {
  const { days: span = defaultSpan } = useSearch({ from: '/signed-in/' })
  const mayRead = useMay('Orders.Read')
  const query = useQuery({ ...overviewQuery(span * 2), select: readFigures, enabled: mayRead })
  const isRefused = useIsUnreadable(query.error)
  const figures = isRefused ? undefined : query.data
  const hasOrders = figures === undefined || countOf(figures.all) > 0
  const failure = isRefused ? null : (query.failureReason ?? query.error)
  const isWaiting = !isRefused && query.isPending
  const choice = <SpanChoice span={span} />
  return (
    <div className="overview" aria-busy={isWaiting || query.isPlaceholderData}>
      <Head figures={hasOrders ? figures : undefined} isWaiting={isWaiting} />
      {failure && <FailureNote failure={failure} onRetry={() => void query.refetch()} />}
      {isRefused && <WithoutReading />}
      {isWaiting && <Skeleton />}
      {figures && hasOrders && <Body figures={figures} choice={choice} isOld={query.isPlaceholderData} />}
      {!hasOrders && <WithoutOrders />}
    </div>
  )
}

interface BodyProps {
  figures: Figures<OrderSummary>
  choice: ReactNode
  /** Of the span that was chosen before, while the next is on its way. */
  isOld: boolean
}

function Body({ figures, choice, isOld }: BodyProps) {
  const spanWords = `Last ${figures.days.length} days`
  return (
    <>
      <KeyFigures figures={figures} />
      <div className="overview-columns">
        <DayChart days={figures.days} span={figures.span} choice={choice} isOld={isOld} />
        <Oldest orders={figures.oldestPending} count={figures.all.pending.count} />
      </div>
      <DayTable figures={figures} />
      <p className="visually-hidden" role="status">
        {isOld ? '' : `${spanWords}: ${formatOrders(countOf(figures.span))}`}
      </p>
    </>
  )
}

/** Stands where the figures will. */
function Skeleton() {
  return (
    <>
      <span className="card skeleton skeleton-figures" />
      <div className="overview-columns">
        <span className="card skeleton skeleton-chart" />
        <span className="card skeleton skeleton-chart" />
      </div>
    </>
  )
}

/** How many days are in sight. Kept in the address; it adds no step to the way back. */
function SpanChoice({ span }: { span: Span }) {
  const navigate = useNavigate()
  function choose(next: Span) {
    const search = next === defaultSpan ? {} : { days: next }
    void navigate({ to: '/', search, replace: true, resetScroll: false })
  }
  const options = spans.map((days) => ({ label: `${days} days`, value: days }))
  return <Segments name="days" legend="Days in sight" options={options} value={span} onChoose={choose} />
}

interface HeadProps {
  /** Absent: there is nothing to say of orders. */
  figures: Figures<OrderSummary> | undefined
  isWaiting: boolean
}

function Head({ figures, isWaiting }: HeadProps) {
  const isApprover = useMay('Orders.Approve')
  const mayCreate = useMay('Orders.Create')
  const count = figures?.all.pending.count
  const since = figures?.oldestPending[0]?.createdAtUtc
  return (
    <div className="row row-between page-head overview-head">
      <div>
        <Greeting />
        {isWaiting && <span className="skeleton skeleton-sentence" />}
        {count !== undefined && (
          <p className="soft">{waitingWords({ count, since, isApprover, now: Date.now() })}</p>
        )}
      </div>
      {(figures !== undefined || isWaiting) && (
        <div className="row overview-actions">
          {isApprover && count !== 0 && (
            <Link to="/orders" search={pendingOldestFirst} className="button">
              Review the oldest
            </Link>
          )}
          {mayCreate && <NewOrder />}
        </div>
      )}
    </div>
  )
}

function Greeting() {
  const { userName } = useUser()
  return (
    <PageTitle title="Overview">
      {greetingAt(new Date().getHours())}, <bdi>{userName}</bdi>
    </PageTitle>
  )
}

function NewOrder() {
  return (
    <Link to="/orders/new" className="button button-primary">
      <PlusIcon />
      New order
    </Link>
  )
}

function WithoutOrders() {
  const mayCreate = useMay('Orders.Create')
  return (
    <section className="card empty">
      <img src={mark} alt="" width="56" height="56" />
      <h2>No orders yet</h2>
      <p className="soft">
        Here you will see what is waiting for approval, how many orders come in, and their value.
      </p>
      {mayCreate ? <NewOrder /> : <p className="soft">It begins with the first order.</p>}
    </section>
  )
}
