import './overview.css'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { components } from '../../../client/src/schema.ts'
import { answerOf, client } from '../api/client.ts'
import { useMayDecide } from '../auth/absence.ts'
import { useMay, useUser } from '../auth/session.ts'
import { alwaysAsked } from '../orders/address/columns.ts'
import { countQuery, mineOldestFirst, waitingOldestFirst } from '../orders/address/queries.ts'
import { forgetCourse } from '../orders/decide/course.ts'
import type { SortKey } from '../orders/fields.ts'
import { askedOf, dateOf, dayAt } from '../orders/filter/days.ts'
import { NoOrders } from '../orders/list/empty.tsx'
import { NewOrder } from '../orders/new-order.tsx'
import { nobodyFilter, othersFilter, ownFilter, waitingFilter } from '../orders/states.ts'
import { useIsUnreadable, WithoutReading } from '../orders/without-reading.tsx'
import { OnePerson } from '../policy/one-person.tsx'
import { FailureNote } from '../ui/failure.tsx'
import { timeZoneHeader } from '../ui/format.ts'
import { Name } from '../ui/name.tsx'
import { PageTitle } from '../ui/page-title.tsx'
import { Days } from './days.tsx'
import { type Listed, mostListed, Orders } from './orders.tsx'
import { countOf, greetingAt, ownTitle, waitingOf } from './words.ts'

type Summary = components['schemas']['OrderStatistics']

const shownDays = 30
/** An order that has waited longer than this many days is stuck. */
const patientDays = 7

// The keys of all queries here begin like those of orders, because a change of an order changes these, too.
const summaryQuery = queryOptions({
  queryKey: ['orders', 'overview'],
  queryFn: ({ signal }) => {
    const params = { query: { days: shownDays }, header: timeZoneHeader }
    return answerOf(client.GET('/v1/orders/summary', { params, signal }))
  },
})

const listedQuery = ({ filter, ...sort }: { filter: string; orderBy?: SortKey }) =>
  queryOptions({
    queryKey: ['orders', 'overview', 'list', filter],
    queryFn: async ({ signal }): Promise<Listed> => {
      const query = { ...sort, filter: askedOf(filter).text, columns: alwaysAsked, pageSize: mostListed }
      const { items, totalCount = 0 } = await answerOf(
        client.GET('/v1/orders', { params: { query }, signal }),
      )
      return { items, count: totalCount }
    },
    retry: false,
  })

const ownOnes = { filter: ownFilter }
/** Orders that the person created and that need something of them, and those that wait. */
const rejectedFilter = `${ownFilter} status=Rejected NOT replacedBy:*`
const ownWaitingFilter = `${ownFilter} ${waitingFilter}`
const strandedOnes = { filter: nobodyFilter, orderBy: 'createdAtUtc' } as const

/** Orders that others have left waiting, oldest first. */
function stuckSearch() {
  const since = dateOf(dayAt(Date.now()) - patientDays)
  return { filter: `${othersFilter} createdAtUtc<${since}`, orderBy: 'createdAtUtc' } as const
}

/** The first view: what waits for this person, their own orders, what is stuck, and how many come in. */
export function OverviewView() {
  const query = useQuery({ ...summaryQuery, enabled: useMay('Orders.Read') })
  const lists = useLists()
  const { userName } = useUser()
  const isRefused = useIsUnreadable(query.error)
  const isWaiting = !isRefused && (query.isPending || lists.areLoading)
  const summary = isRefused || isWaiting ? undefined : query.data
  const failure = isRefused ? null : (query.failureReason ?? query.error)
  const hasNoOrders = summary !== undefined && countOf(summary) === 0
  const isShown = summary !== undefined && !hasNoOrders
  return (
    <div className="stack gap-5" aria-busy={isWaiting}>
      <div className="row row-between">
        <PageTitle title="Overview">
          {greetingAt(new Date().getHours())}, <Name of={userName} />
        </PageTitle>
        {/* A second button may need another line: it comes with everything else, so that nothing jumps. */}
        {!isRefused && !hasNoOrders && <Actions mine={isWaiting ? undefined : lists.mine} />}
      </div>
      {failure && <FailureNote failure={failure} onRetry={() => void query.refetch()} />}
      {isRefused && <WithoutReading />}
      {isWaiting && <Skeleton />}
      {hasNoOrders && (
        <section className="card">
          <NoOrders />
        </section>
      )}
      {isShown && <Body summary={summary} lists={lists} />}
    </div>
  )
}

/** A list is undefined if it does not concern the person, or could not be read. */
function useLists() {
  const mayRead = useMay('Orders.Read')
  const mayApprove = useMay('Orders.Approve')
  const isDeciding = useMayDecide() && mayRead
  const mine = useQuery({ ...listedQuery(mineOldestFirst), enabled: isDeciding })
  const [stuckOnes] = useState(stuckSearch)
  const stuck = useQuery({ ...listedQuery(stuckOnes), enabled: isDeciding })
  const isCreating = useMay('Orders.Create') && mayRead
  const created = useQuery({ ...listedQuery(ownOnes), enabled: isCreating })
  const rejected = useQuery({ ...countQuery(rejectedFilter), enabled: isCreating })
  const waiting = useQuery({ ...countQuery(ownWaitingFilter), enabled: isCreating })
  const stranded = useQuery({ ...listedQuery(strandedOnes), enabled: mayRead })
  return {
    mine: mine.data,
    created: created.data,
    createdTitle: ownTitle({ rejected: rejected.data, waiting: waiting.data }),
    stranded: stranded.data,
    stuck: stuck.data,
    stuckOnes,
    // A deputy's lists may come later, because they depend on who is away, which is read first.
    areLoading:
      created.isLoading ||
      rejected.isLoading ||
      waiting.isLoading ||
      stranded.isLoading ||
      (mayApprove && (mine.isLoading || stuck.isLoading)),
  }
}

interface BodyProps {
  summary: Summary
  lists: ReturnType<typeof useLists>
}

function Body({ summary, lists: { mine, created, createdTitle, stranded, stuck, stuckOnes } }: BodyProps) {
  const oldest = { items: summary.oldestPending, count: waitingOf(summary) }
  const own = created && (
    <Orders title={createdTitle} orders={created} search={ownOnes} isMixed>
      You have not created any orders yet.
    </Orders>
  )
  return (
    <>
      <div className="columns gap-5 overview-lists">
        {mine ? (
          <Orders title="Waiting for you" orders={mine} search={mineOldestFirst}>
            Nothing is waiting for you.
          </Orders>
        ) : (
          own
        )}
        {mine ? (
          own
        ) : (
          <Orders title="Longest waiting" orders={oldest} search={waitingOldestFirst}>
            Nothing is waiting for approval.
          </Orders>
        )}
        {stranded && stranded.count > 0 && (
          <Orders title="Nobody can approve these now" orders={stranded} search={strandedOnes} />
        )}
        {stuck && stuck.count > 0 && (
          <Orders title="Waiting for others for over a week" orders={stuck} search={stuckOnes} />
        )}
      </div>
      <OnePerson />
      <Days days={summary.days} />
    </>
  )
}

function Skeleton() {
  return (
    <>
      <div className="columns gap-5 overview-lists">
        <span className="card skeleton" style={{ height: 340 }} />
        <span className="card skeleton" style={{ height: 340 }} />
      </div>
      <span className="card skeleton" style={{ height: 260 }} />
    </>
  )
}

/** `mine` is undefined if the person cannot decide. */
function Actions({ mine }: { mine: Listed | undefined }) {
  return (
    <div className="row">
      {mine && mine.count > 0 && (
        <Link to="/orders/review" search={mineOldestFirst} className="button" onClick={forgetCourse}>
          Review oldest
        </Link>
      )}
      <NewOrder />
    </div>
  )
}
