import './one.css'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useCallback, useRef, useState } from 'react'
import { problemOf } from '../../api/problem.ts'
import { queries } from '../../api/queries.ts'
import { useMay } from '../../auth/session.ts'
import { FailureNote } from '../../ui/failure.tsx'
import { Missing, outdatedLink, toOrders } from '../../ui/missing.tsx'
import { Name } from '../../ui/name.tsx'
import { PageHead, PageTitle } from '../../ui/page-title.tsx'
import { BackToList } from '../address/back.tsx'
import { Documents } from '../documents/documents.tsx'
import { useViewing, Viewer } from '../documents/viewer.tsx'
import { orderAsTitle } from '../identity.ts'
import type { ListedOrder, VersionedOrder } from '../order.ts'
import { approvalsQuery, historyQuery, orderQuery } from '../queries.ts'
import { Status } from '../status.tsx'
import { useIsUnreadable, WithoutReading } from '../without-reading.tsx'
import { OrderActions } from './buttons.tsx'
import { OtherOrders } from './customer.tsx'
import { type Deciding, useDeciding } from './deciding.tsx'
import { OrderFacts } from './facts.tsx'
import { OrderHistory } from './history.tsx'
import { Replaced } from './replaced.tsx'

/** One order, its history, and what may be done with it. */
export function OrderView() {
  const { id } = useParams({ from: '/signed-in/orders/$id' })
  return <OneOrder key={id} id={id} />
}

function OneOrder({ id }: { id: string }) {
  const whole = useWholeOrder(id)
  const view = useRef<HTMLElement>(null)
  const deciding = useDeciding(view, whole.order.data, whole.events)
  return (
    <>
      <article ref={view} className="order" aria-busy={whole.isPending}>
        <BackToList />
        <OrderBody whole={whole} deciding={deciding} />
      </article>
      {deciding.dialog}
    </>
  )
}

export type WholeOrder = ReturnType<typeof useWholeOrder>

/** The order with its number, who approved it and what happened to it, requested in parallel. */
export function useWholeOrder(id: string) {
  const enabled = useMay('Orders.Read')
  const refetchOnWindowFocus = ({ state }: { state: { error: unknown } }) =>
    problemOf(state.error, 'order-not-found') === undefined
  const approvals = useQuery({ ...approvalsQuery(id), enabled, refetchOnWindowFocus })
  const [row] = useState(() => rowOf(id))
  const number = approvals.data?.number ?? row?.number
  const select = useCallback(
    (data: VersionedOrder) => ({ ...data, order: { ...data.order, number } }),
    [number],
  )
  const order = useQuery({ ...orderQuery(id), enabled, refetchOnWindowFocus, select })
  const history = useInfiniteQuery({ ...historyQuery(id), enabled, refetchOnWindowFocus })
  const events = history.data?.pages.flatMap(({ items }) => items)
  const [failure = null] = [order, approvals, history]
    .map(({ failureReason, error }) => failureReason ?? error)
    .filter((reason) => reason !== null)
  const isUnreadable = useIsUnreadable(failure)
  const isPending = order.isPending && !isUnreadable
  return { order, row, approvals, history, events, failure, isUnreadable, isPending }
}

interface BodyProps {
  whole: WholeOrder
  deciding: Deciding
  /**
   * In a review: before its title, for screen readers. Facts that do not help to decide are left out there.
   */
  place?: string
}

/** Whatever can be read of the order, or why nothing can be read. */
export function OrderBody(props: BodyProps) {
  const { failure, isUnreadable } = props.whole
  if (isUnreadable) {
    return (
      <>
        <PageHead title="Order" />
        <WithoutReading />
      </>
    )
  }
  if (problemOf(failure, 'order-not-found'))
    return <Missing title="Order not found" words={outdatedLink} link={toOrders} />
  const retry = () => void queries.refetchQueries({ queryKey: ['orders'], type: 'active' })
  return (
    <>
      {failure !== null && <FailureNote failure={failure} onRetry={retry} />}
      <OrderSheet {...props} />
    </>
  )
}

function OrderSheet({ whole: { history, events, ...whole }, deciding, place }: BodyProps) {
  const shown = whole.order.data
  const order = shown?.order
  const viewing = useViewing(shown?.documents)
  const approvals = whole.approvals.data
  const isReview = place !== undefined
  // A row of the list is enough to start with.
  const known = order ?? whole.row
  const onMore = history.hasNextPage ? () => void history.fetchNextPage() : undefined
  return (
    <div className="order-beside">
      {order && <Viewer order={order} viewing={viewing} />}
      <div>
        <header className="row row-between page-head order-head">
          <div className="row wrap order-title">
            <PageTitle title={known ? orderAsTitle(known) : 'Order'}>
              <span className="visually-hidden">{place}Order for </span>
              {known ? <Name of={known.customer} /> : <span className="skeleton" style={{ width: '14ch' }} />}
            </PageTitle>
            {known ? (
              <Status status={known.status} />
            ) : (
              <span className="skeleton" style={{ width: 84, height: 22 }} />
            )}
          </div>
          {order && approvals && events ? (
            <OrderActions
              {...{ order, events, deciding, isReview, approvals }}
              documents={shown?.documents ?? []}
            />
          ) : (
            <div className="order-actions" />
          )}
        </header>
        <div className="card order-sheet">
          {deciding.question}
          <OrderFacts order={known} approvals={approvals}>
            <Replaced shown={shown} approvals={approvals} />
            <div className="order-documents">
              <dt className="soft">Documents</dt>
              <dd>
                {shown ? (
                  <Documents {...{ shown, approvals, events, viewing }} />
                ) : (
                  <span className="skeleton" style={{ width: '12ch' }} />
                )}
              </dd>
            </div>
          </OrderFacts>
          <OrderHistory order={order} events={events} onMore={onMore} isReview={isReview} />
        </div>
        <OtherOrders order={known} />
      </div>
    </div>
  )
}

/** The order's row in a list that was fetched recently. */
function rowOf(id: string): ListedOrder | undefined {
  const lists = queries.getQueriesData<{ items: ListedOrder[] }>({ queryKey: ['orders', 'list'] })
  return lists.flatMap(([, list]) => list?.items ?? []).find((row) => row.id === id)
}
