import './list.css'
import { type RefObject, useCallback, useEffect, useMemo, useRef } from 'react'
import { isPassing } from '../../api/problem.ts'
import { useMayDecide } from '../../auth/absence.ts'
import { withoutBackticks } from '../../ui/backticks.ts'
import { useIsLong } from '../../ui/calm.ts'
import { FailureNote } from '../../ui/failure.tsx'
import { PageHead } from '../../ui/page-title.tsx'
import { Pager } from '../../ui/pager.tsx'
import { onPage, withPageSize } from '../../ui/paging.ts'
import { Spoken } from '../../ui/spoken.tsx'
import { filteredBy, type ListSearch, sortedBy, sortOf } from '../address/address.ts'
import { useLastList } from '../address/back.tsx'
import { useColumns } from '../address/columns.ts'
import type { Chosen } from '../decide/chosen.ts'
import { useSelection } from '../decide/selection.ts'
import type { SortKey } from '../fields.ts'
import { ListControls } from '../filter/controls.tsx'
import { refusalOf } from '../filter/fault.ts'
import { NewOrder } from '../new-order.tsx'
import type { OrderSummary } from '../order.ts'
import { useIsUnreadable, WithoutReading } from '../without-reading.tsx'
import { BeginReview } from './begin-review.tsx'
import { NoOrders, NothingFound, NotSearched, PastTheEnd } from './empty.tsx'
import { NotLive, Reload } from './reload.tsx'
import { focusRow } from './rows.ts'
import { type Approving, SelectionBar, useApproving } from './selection-bar.tsx'
import { type Shown, useListSearch, useOpening, useShownOrders } from './state.ts'
import { OrderTable } from './table.tsx'
import { ViewMenu } from './view-menu.tsx'
import { captionOf, countWords } from './words.ts'

const longMilliseconds = 1_000

type Change = ReturnType<typeof useListSearch>['change']

interface List extends ReturnType<typeof useShownOrders> {
  search: ListSearch
  change: Change
  approving: Approving
}

/** The table of orders. Everything that it shows is in its address. */
export function OrderListView() {
  const { search, change } = useListSearch()
  useLastList(search)
  const approving = useApproving()
  const list: List = { ...useShownOrders(search), search, change, approving }
  const { shown } = list
  const isUnreadable = useIsUnreadable(list.failure)
  return (
    <div className="list">
      <PageHead title="Orders">
        {!isUnreadable && (
          <div className="row">
            <BeginReview search={shown?.search ?? search} orders={shown?.page.items ?? []} />
            <NewOrder />
          </div>
        )}
      </PageHead>
      {isUnreadable ? <WithoutReading /> : <Listing {...list} />}
      {approving.dialog}
    </div>
  )
}

function Listing(list: List) {
  const { search, change, shown, isStale, failure, retry } = list
  const refusal = refusalOf(failure, search.filter ?? '')
  const count = shown && countWords(shown.totalCount, shown.search.filter)
  const isSlow = useIsLong(isStale && !failure, longMilliseconds)
  const isFromBefore = isStale && failure != null && shown !== undefined
  const line = isFromBefore ? 'These are earlier results.' : count
  const reason = refusal && withoutBackticks(refusal.detail)
  return (
    <>
      <ListControls
        filter={search.filter ?? ''}
        refusal={refusal}
        view={
          <ViewMenu
            search={search}
            shown={shown}
            onColumns={(columns) =>
              change((before) => ({ ...before, columns }), { replace: true, resetScroll: false })
            }
          />
        }
        count={<p className="list-count soft small">{isSlow ? 'Still searching …' : line}</p>}
        onApply={(filter, isSameGo) =>
          change((before) => filteredBy(before, filter), { replace: isSameGo, resetScroll: false })
        }
      >
        <Reload filter={search.filter ?? ''} orders={shown?.page.items ?? []} onLoad={retry} />
      </ListControls>
      <NotLive />
      <Spoken text={isSlow ? 'Still searching' : (reason ?? (isStale ? undefined : count))} />
      {failure != null && !refusal && <FailureNote failure={failure} onRetry={retry} />}
      <Result {...list} />
    </>
  )
}

function Result(list: List) {
  const { search, change, shown, failure } = list
  /** The pressed button has disappeared with its surroundings, so the focus goes to the first row. */
  const wantsFocus = useRef(false)
  const showOther = (next: (search: ListSearch) => ListSearch) => {
    wantsFocus.current = true
    change(next)
  }
  if (shown !== undefined) return <Orders {...list} {...{ shown, showOther, wantsFocus }} />
  const isRefused = refusalOf(failure, search.filter ?? '') !== undefined
  if (failure != null && !isRefused && !isPassing(failure)) return null
  return (
    <div className="card list-card">
      {isRefused ? (
        <NotSearched onSearch={(filter) => showOther((before) => filteredBy(before, filter))} />
      ) : (
        <div className="skeleton" style={{ display: 'block', height: 480 }} aria-busy="true" />
      )}
    </div>
  )
}

interface OrdersProps extends List {
  shown: Shown
  /** Like `change`, for a button that disappears when it is pressed. */
  showOther: Change
  wantsFocus: RefObject<boolean>
}

/** A page of orders, or why there is none, and the chosen orders of all pages. */
function Orders(props: OrdersProps) {
  const { shown, isStale, approving } = props
  const { items } = shown.page
  const mayDecide = useMayDecide()
  const { chosen, choose, clear } = useSelection(shown.search.filter ?? '', items)
  const hasRows = items.length > 0
  return (
    <div
      className={isStale && hasRows ? 'card list-card list-stale' : 'card list-card'}
      aria-busy={hasRows ? undefined : isStale}
    >
      {hasRows ? (
        <Rows {...props} chosen={mayDecide ? chosen : undefined} onChoose={choose} />
      ) : (
        <NoRows {...props} />
      )}
      <div className="list-foot">
        {mayDecide && <SelectionBar chosen={chosen} orders={items} approving={approving} onClear={clear} />}
        {hasRows && <Pages {...props} />}
      </div>
    </div>
  )
}

function NoRows({ shown: { page, search, totalCount }, showOther }: OrdersProps) {
  if (totalCount > 0) {
    return <PastTheEnd page={page} onPage={(number) => showOther((before) => onPage(before, number))} />
  }
  if (!search.filter) return <NoOrders />
  return (
    <NothingFound
      filter={search.filter}
      onSearch={(filter) => showOther((before) => filteredBy(before, filter))}
    />
  )
}

interface RowsProps extends OrdersProps {
  chosen: Chosen | undefined
  onChoose(orders: readonly OrderSummary[], isChosen: boolean): void
}

function Rows({ search, shown, isStale, change, wantsFocus, chosen, onChoose }: RowsProps) {
  const { page, search: asked, pageSize, totalCount } = shown
  const onOpen = useOpening()
  useEffect(() => {
    if (wantsFocus.current) focusRow([])
    wantsFocus.current = false
  }, [wantsFocus])
  const { orderBy, order } = sortOf(asked)
  const sort = useMemo(() => ({ orderBy, order }), [orderBy, order])
  const onSort = useCallback((key: SortKey) => change((before) => sortedBy(before, key)), [change])
  return (
    <OrderTable
      orders={page.items}
      shown={useColumns(search.columns)}
      caption={captionOf(asked, page.items.length, pageSize, totalCount)}
      sort={sort}
      chosen={chosen}
      isStale={isStale}
      onSort={onSort}
      onChoose={onChoose}
      onOpen={onOpen}
    />
  )
}

function Pages({ search, shown, change }: OrdersProps) {
  return (
    <Pager
      page={shown.page}
      pageSize={shown.pageSize}
      wantedPage={search.pageNumber ?? 1}
      onPage={(number) => change((before) => onPage(before, number))}
      onPageSize={(size) => change((before) => withPageSize(before, size), { resetScroll: false })}
    />
  )
}
