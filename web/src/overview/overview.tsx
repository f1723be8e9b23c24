import './overview.css'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { answerOf, client } from '../api/client.ts'
import { useMay, useUser } from '../auth/session.ts'
import { NewOrder } from '../orders/new-order.tsx'
import { useIsUnreadable, WithoutReading } from '../orders/without-reading.tsx'
import { FailureNote } from '../ui/failure.tsx'
import { formatOrders } from '../ui/format.ts'
import mark from '../ui/mark.svg'
import { Name } from '../ui/name.tsx'
import { PageTitle } from '../ui/page-title.tsx'
import { Segments } from '../ui/segments.tsx'
import { DayChart } from './days/chart.tsx'
import { DayTable } from './days/table.tsx'
import { countOf, type Figures, readFigures } from './figures.ts'
import { KeyFigures } from './key-figures.tsx'
import { defaultSpan, type Span, spans } from './span.ts'
import { daysOfAges } from './waiting/ages.ts'
import { Backlog } from './waiting/backlog.tsx'
import { Oldest, pendingOldestFirst } from './waiting/oldest.tsx'
import { greetingAt, waitingWords } from './words.ts'

const overviewQuery = (span: Span) => {
  const days = Math.max(2 * span, daysOfAges)
  return queryOptions({
    // Under the key of the orders, because a change of an order changes this.
    queryKey: ['orders', 'overview', span],
    queryFn: async ({ signal }) => {
      const overview = answerOf(client.GET('/v1/orders/summary', { params: { query: { days } }, signal }))
      return readFigures(await overview, span)
    },
    placeholderData: keepPreviousData,
  })
}

/** The first view: what is waiting, and how things are going. */
export function OverviewView() {
  const { days: span = defaultSpan } = useSearch({ from: '/signed-in/' })
  const query = useQuery({ ...overviewQuery(span), enabled: useMay('Orders.Read') })
  const { userName } = useUser()
  const isRefused = useIsUnreadable(query.error)
  const isWaiting = !isRefused && query.isPending
  const figures = isRefused ? undefined : query.data
  const failure = isRefused ? null : (query.failureReason ?? query.error)
  const hasNoOrders = figures !== undefined && countOf(figures.all) === 0
  return (
    <div className="stack gap-5 overview" aria-busy={isWaiting || query.isPlaceholderData}>
      <div className="row row-between page-head overview-head">
        <div className="wrap">
          <PageTitle title="Overview">
            {greetingAt(new Date().getHours())}, <Name of={userName} />
          </PageTitle>
          {isWaiting && <span className="skeleton" style={{ width: 300 }} />}
          {figures && !hasNoOrders && <WhatWaits figures={figures} />}
        </div>
        {!isRefused && !hasNoOrders && <Actions count={figures?.all.pending.count} />}
      </div>
      {failure && <FailureNote failure={failure} onRetry={() => void query.refetch()} />}
      {isRefused && <WithoutReading />}
      {isWaiting && <Skeleton />}
      {hasNoOrders && <WithoutOrders />}
      {figures && !hasNoOrders && <Body figures={figures} span={span} isOld={query.isPlaceholderData} />}
    </div>
  )
}

interface BodyProps {
  figures: Figures
  /** The chosen one. */
  span: Span
  /** The figures are of the previous span while the chosen one loads. */
  isOld: boolean
}

function Body({ figures, span, isOld }: BodyProps) {
  const spoken = `Last ${figures.days.length} days: ${formatOrders(countOf(figures.span))}`
  return (
    <>
      <KeyFigures figures={figures} />
      <div className="stack gap-5 overview-columns">
        <DayChart days={figures.days} span={figures.span} choice={<SpanChoice span={span} />} isOld={isOld} />
        <div className="card card-stack waiting">
          <Backlog figures={figures} />
          <Oldest orders={figures.oldestPending} count={figures.all.pending.count} />
        </div>
      </div>
      <DayTable figures={figures} />
      <p className="visually-hidden" role="status">
        {isOld ? '' : spoken}
      </p>
    </>
  )
}

/** Stands where the figures will. */
function Skeleton() {
  return (
    <>
      <span className="card skeleton key-figures-to-come" />
      <div className="stack gap-5 overview-columns">
        <span className="card skeleton" style={{ height: 460 }} />
        <span className="card skeleton" style={{ height: 460 }} />
      </div>
    </>
  )
}

/** How many days are shown. Kept in the address, without a step in the history. */
function SpanChoice({ span }: { span: Span }) {
  const navigate = useNavigate()
  function choose(next: Span) {
    const search = next === defaultSpan ? {} : { days: next }
    void navigate({ to: '/', search, replace: true, resetScroll: false })
  }
  const options = spans.map((days) => ({ label: `${days} days`, value: days }))
  return <Segments name="days" legend="Days shown" options={options} value={span} onChoose={choose} />
}

function WhatWaits({ figures }: { figures: Figures }) {
  const { count } = figures.all.pending
  const since = figures.oldestPending[0]?.createdAtUtc
  return <p className="soft">{waitingWords({ count, since, now: Date.now() })}</p>
}

function Actions({ count }: { count: number | undefined }) {
  const isApprover = useMay('Orders.Approve')
  return (
    <div className="row">
      {isApprover && count !== 0 && (
        <Link to="/orders" search={pendingOldestFirst} className="button">
          Review oldest
        </Link>
      )}
      <NewOrder />
    </div>
  )
}

function WithoutOrders() {
  return (
    <section className="card empty">
      <img src={mark} alt="" width="56" height="56" />
      <h2>No orders yet</h2>
      <p className="soft">
        This page will show what is waiting for approval, how many orders come in, and what they are worth.
      </p>
      <NewOrder />
    </section>
  )
}
