import './order.css'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { problemOf } from '../../api/problem.ts'
import { queries } from '../../api/queries.ts'
import { useMay, useUser } from '../../auth/session.ts'
import { FailureNote } from '../../ui/failure.tsx'
import { formatExactInstant, viewerTimeZone } from '../../ui/format.ts'
import { CheckIcon } from '../../ui/icons.tsx'
import { Name } from '../../ui/name.tsx'
import { PageTitle } from '../../ui/page-title.tsx'
import { useShortcut } from '../../ui/shortcuts.tsx'
import type { Subject } from '../approve/approvals.ts'
import { ApproveDialog } from '../approve/dialog.tsx'
import { orderAsTitle } from '../identity.ts'
import { useNow } from '../moment.tsx'
import type { Order, OrderSummary, VersionedOrder } from '../order.ts'
import { orderQuery } from '../queries.ts'
import { pending } from '../states.ts'
import { Status } from '../status.tsx'
import { useIsUnreadable, WithoutReading } from '../without-reading.tsx'
import { BackToList } from './back.tsx'
import { OrderFacts } from './facts.tsx'
import { OrderHistory } from './history.tsx'

/** One order, its history, and the way to approve it. */
export function OrderView() {
  const { id } = useParams({ from: '/signed-in/orders/$id' })
  return <OneOrder key={id} id={id} />
}

function OneOrder({ id }: { id: string }) {
  const query = useQuery({
    ...orderQuery(id),
    enabled: useMay('Orders.Read'),
    refetchOnWindowFocus: ({ state }) => problemOf(state.error, 'order-not-found') === undefined,
  })
  const view = useRef<HTMLElement>(null)
  const approving = useApproving(view, query.data)
  const failure = query.failureReason ?? query.error
  const isUnreadable = useIsUnreadable(failure)
  return (
    <>
      <article ref={view} className="order" aria-busy={query.isPending && !isUnreadable}>
        <BackToList />
        {isUnreadable ? (
          <UnreadableOrder />
        ) : problemOf(failure, 'order-not-found') ? (
          <NoSuchOrder />
        ) : (
          <>
            {failure !== null && <FailureNote failure={failure} onRetry={() => void query.refetch()} />}
            <OrderSheet id={id} order={query.data?.order} onApprove={approving.open} />
          </>
        )}
      </article>
      {approving.dialog}
    </>
  )
}

interface SheetProps {
  id: string
  order: Order | undefined
  /** Absent when the person may not approve it, or not any more. */
  onApprove: (() => void) | undefined
}

function OrderSheet({ id, order, onApprove }: SheetProps) {
  // A row of the list is enough to begin with.
  const [row] = useState(() => rowOf(id))
  const known: OrderSummary | undefined = order ?? row
  return (
    <>
      <header className="row row-between page-head order-head">
        <div className="order-title">
          <PageTitle title={known ? orderAsTitle(known) : 'Order'}>
            <span className="visually-hidden">Order for </span>
            {known ? <Name of={known.customer} /> : <span className="skeleton" style={{ width: '14ch' }} />}
          </PageTitle>
          {known ? (
            <Status status={known.status} />
          ) : (
            <span className="skeleton" style={{ width: 84, height: 22 }} />
          )}
        </div>
        {onApprove && (
          <Button className="button button-primary order-approve" onPress={onApprove}>
            <CheckIcon />
            Approve
            <span className="order-key" aria-hidden="true">
              a
            </span>
          </Button>
        )}
      </header>
      <div className="card order-sheet">
        <OrderFacts order={known} id={id} />
        <OrderHistory order={order} />
      </div>
      <PrintFoot />
    </>
  )
}

function UnreadableOrder() {
  return (
    <>
      <header className="row row-between page-head order-head">
        <PageTitle title="Order" />
      </header>
      <WithoutReading />
    </>
  )
}

function NoSuchOrder() {
  return (
    <div className="empty">
      <PageTitle title="Order not found" />
      <p className="soft">The link may be out of date or mistyped.</p>
      <Link to="/orders" className="button">
        Go to orders
      </Link>
    </div>
  )
}

function PrintFoot() {
  const { userName } = useUser()
  const now = useNow()
  return (
    <p className="order-print-foot small soft">
      Countersign · {location.href} · printed by <Name of={userName} />,{' '}
      {formatExactInstant(new Date(now).toISOString())} · times in {viewerTimeZone.replaceAll('_', ' ')}
    </p>
  )
}

/** The dialog that approves the version which is shown, and the way to open it while there is something to approve. */
function useApproving(view: RefObject<HTMLElement | null>, shown: VersionedOrder | undefined) {
  const [subject, setSubject] = useState<Subject>()
  const isPending = useMay('Orders.Approve') && shown?.order.status === pending
  const open = () => {
    if (isPending) setSubject({ ...shown.order, etag: shown.etag })
  }
  useShortcut('a', open)
  useEffect(() => {
    if (isPending) return () => focusIfLost(view.current)
    return undefined
  }, [isPending, view])
  const close = useCallback(
    ({ approved }: { approved: string[] }) => {
      setSubject(undefined)
      // The button that had the focus may be gone.
      setTimeout(() => {
        if (approved.length > 0) view.current?.querySelector('h1')?.focus()
        else focusIfLost(view.current)
      }, 50)
    },
    [view],
  )
  const dialog = (
    <ApproveDialog subjects={subject ? [subject] : []} isOpen={subject !== undefined} onClose={close} />
  )
  return { open: isPending ? open : undefined, dialog }
}

/** The button that had the focus may be gone, also by what others did: then the heading has it. */
function focusIfLost(view: HTMLElement | null): void {
  if (document.activeElement === document.body) view?.querySelector('h1')?.focus({ preventScroll: true })
}

/** What a list that was fetched lately says of the order. */
function rowOf(id: string): OrderSummary | undefined {
  const lists = queries.getQueriesData<{ items: OrderSummary[] }>({ queryKey: ['orders', 'list'] })
  return lists.flatMap(([, list]) => list?.items ?? []).find((row) => row.id === id)
}
