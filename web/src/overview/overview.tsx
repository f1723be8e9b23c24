import './overview.css'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { answerOf, client } from '../api/client.ts'
import { useMayDecide } from '../auth/absence.ts'
import { useMay, useUser } from '../auth/session.ts'
import { alwaysAsked } from '../orders/address/columns.ts'
import { mineOldestFirst } from '../orders/address/queries.ts'
import { NewOrder } from '../orders/new-order.tsx'
import { useIsUnreadable, WithoutReading } from '../orders/without-reading.tsx'
import { OnePerson } from '../policy/one-person.tsx'
import { FailureNote } from '../ui/failure.tsx'
import { formatOrders, viewerTimeZone } from '../ui/format.ts'
import mark from '../ui/mark.svg'
import { Name } from '../ui/name.tsx'
import { PageTitle } from '../ui/page-title.tsx'
import { Segments } from '../ui/segments.tsx'
import { DayChart } from './days/chart.tsx'
import { DayTable } from './days/table.tsx'
import { countOf, type Figures, readFigures, waitingOf } from './figures.ts'
import { KeyFigures } from './key-figures.tsx'
import { defaultSpan, type Span, spans } from './span.ts'
import { daysOfAges } from './waiting/ages.ts'
import { Backlog } from './waiting/backlog.tsx'
import { WaitsForNobody } from './waiting/nobody.tsx'
import { type Mine, mostListed, Oldest } from './waiting/oldest.tsx'
import { greetingAt, waitingWords } from './words.ts'

const overviewQuery = (span: Span) => {
  const days = Math.max(2 * span, daysOfAges)
  return queryOptions({
    // Under the key of the orders, because a change of an order changes this, too.
    queryKey: ['orders', 'overview', span],
    queryFn: async ({ signal }) => {
      const params = { query: { days }, header: { 'Time-Zone': viewerTimeZone } }
      return readFigures(await answerOf(client.GET('/v1/orders/summary', { params, signal })), span)
    },
    placeholderData: keepPreviousData,
  })
}

/** What waits for this person, oldest first. Refreshed with the overview, because its key begins the same. */
const mineQuery = queryOptions({
  queryKey: ['orders', 'overview', 'mine'],
  queryFn: async ({ signal }): Promise<Mine> => {
    const params = { query: { ...mineOldestFirst, columns: alwaysAsked, pageSize: mostListed } }
    const { items, totalCount = 0 } = await answerOf(client.GET('/v1/orders', { params, signal }))
    return { items, count: totalCount }
  },
  retry: false,
})

/** The first view: what is waiting for approval, and how things are going. */
export function OverviewView() {
  const { days: span = defaultSpan } = useSearch({ from: '/signed-in/' })
  const query = useQuery({ ...overviewQuery(span), enabled: useMay('Orders.Read') })
  const mine = useMine()
  const { userName } = useUser()
  const isRefused = useIsUnreadable(query.error)
  // A deputy's number may come later, because it depends on who is away, which is read first.
  const isCounting = useMay('Orders.Approve') && mine.isLoading
  const isWaiting = !isRefused && (query.isPending || isCounting)
  const figures = isRefused || isCounting ? undefined : query.data
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
          {figures && !hasNoOrders && <WhatWaits figures={figures} mine={mine.data} />}
        </div>
        {!isRefused && !hasNoOrders && <Actions mine={mine.data} />}
      </div>
      {failure && <FailureNote failure={failure} onRetry={() => void query.refetch()} />}
      {isRefused && <WithoutReading />}
      {isWaiting && <Skeleton />}
      {hasNoOrders && <WithoutOrders />}
      {figures && !hasNoOrders && (
        <Body figures={figures} mine={mine.data} span={span} isOld={query.isPlaceholderData} />
      )}
    </div>
  )
}

/** No data if the person cannot decide, or if it could not be read. */
function useMine() {
  const mayRead = useMay('Orders.Read')
  return useQuery({ ...mineQuery, enabled: useMayDecide() && mayRead })
}

interface BodyProps {
  figures: Figures
  /** Undefined if the person cannot decide. */
  mine: Mine | undefined
  /** The chosen span. */
  span: Span
  /** The chosen span is loading, and the figures are still those of the previous one. */
  isOld: boolean
}

function Body({ figures, mine, span, isOld }: BodyProps) {
  const spoken = `Last ${figures.days.length} days: ${formatOrders(countOf(figures.span))}`
  return (
    <>
      <WaitsForNobody />
      <div className="stack gap-5 overview-columns">
        <Oldest mine={mine} all={{ items: figures.oldestPending, count: waitingOf(figures.all) }} />
        <Backlog figures={figures} />
      </div>
      <OnePerson />
      <DayChart days={figures.days} span={figures.span} choice={<SpanChoice span={span} />} isOld={isOld} />
      <KeyFigures figures={figures} />
      <DayTable figures={figures} />
      <p className="visually-hidden" role="status">
        {isOld ? '' : spoken}
      </p>
    </>
  )
}

/** A placeholder for the figures. */
function Skeleton() {
  return (
    <>
      <div className="stack gap-5 overview-columns">
        <span className="card skeleton" style={{ height: 330 }} />
        <span className="card skeleton" style={{ height: 330 }} />
      </div>
      <span className="card skeleton" style={{ height: 460 }} />
    </>
  )
}

/** How many days are shown. Kept in the address, without adding to the history. */
function SpanChoice({ span }: { span: Span }) {
  const navigate = useNavigate()
  function choose(next: Span) {
    const search = next === defaultSpan ? {} : { days: next }
    void navigate({ to: '/', search, replace: true, resetScroll: false })
  }
  const options = spans.map((days) => ({ label: `${days} days`, value: days }))
  return <Segments name="days" legend="Days shown" options={options} value={span} onChoose={choose} />
}

function WhatWaits({ figures, mine }: Pick<BodyProps, 'figures' | 'mine'>) {
  const count = waitingOf(figures.all)
  const since = figures.oldestPending[0]?.createdAtUtc
  return <p className="soft">{waitingWords({ count, mine: mine?.count, since, now: Date.now() })}</p>
}

function Actions({ mine }: Pick<BodyProps, 'mine'>) {
  return (
    <div className="row">
      {mine && mine.count > 0 && (
        <Link to="/orders" search={mineOldestFirst} className="button">
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
