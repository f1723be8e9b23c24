import './table.css'
import {
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type ReactNode,
  type SyntheticEvent,
  useEffect,
  useRef,
} from 'react'
import { ArrowIcon } from '../../ui/icons.tsx'
import type { Sort } from '../address/address.ts'
import { type Chosen, isChoosable } from '../decide/chosen.ts'
import { type ColumnName, headingOf, isSortKey, type SortKey } from '../fields.ts'
import { numberOf } from '../identity.ts'
import type { ListedOrder, OrderSummary } from '../order.ts'
import { cells } from './cells.tsx'
import { moveFromRow, rowIdOf, useRowKeys } from './rows.ts'

interface TableProps {
  orders: readonly ListedOrder[]
  /** From left to right. */
  shown: readonly ColumnName[]
  /** For print and screen readers. */
  caption: string
  sort: Sort
  /** Undefined for people who may not approve: they select nothing. */
  chosen: Chosen | undefined
  isStale: boolean
  onSort(key: SortKey): void
  onChoose(orders: readonly OrderSummary[], isChosen: boolean): void
  onOpen(id: string): void
}

/**
 * The orders of one page, a row each, or a card each on a narrow screen. The functions passed in must not
 * change.
 */
export const OrderTable = memo(function OrderTable(props: TableProps) {
  const { orders, shown, caption, sort, chosen, isStale, onSort, onChoose } = props
  const table = useRef<HTMLTableElement>(null)
  const lastToggled = useRef<string>(undefined)
  const toggle = (id: string, isRange = false) => {
    if (!chosen) return
    const [start, end] = [isRange ? lastToggled.current : id, id].map((one) =>
      orders.findIndex((order) => order.id === one),
    )
    lastToggled.current = id
    onChoose(ordersBetween(orders, start, end), !chosen.has(id))
  }
  useRowKeys(table, toggle)
  return (
    <table ref={table} className={tableClass(shown)} aria-busy={isStale}>
      <caption className="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {chosen && <SelectAll orders={orders} chosen={chosen} onChoose={onChoose} />}
          {shown.map((name) => (
            <Heading key={name} name={name} sort={sort} onSort={onSort} />
          ))}
        </tr>
      </thead>
      <Body {...props} onToggle={toggle}>
        {orders.map((order) => (
          <Row
            key={order.id}
            order={order}
            maySelect={chosen !== undefined}
            isChosen={chosen?.has(order.id) ?? false}
            shown={shown}
          />
        ))}
      </Body>
    </table>
  )
})

/** A typical screen has room for this many columns, each on one line. */
const mostAtEase = 6

function tableClass(shown: readonly ColumnName[]): string {
  return shown.length > mostAtEase ? 'orders orders-dense' : 'orders'
}

/** Both ends included, in either order. If the first one is not there, only the second. */
function ordersBetween(orders: readonly OrderSummary[], start = -1, end = -1): readonly OrderSummary[] {
  const first = start === -1 ? end : Math.min(start, end)
  return orders.slice(Math.max(first, 0), Math.max(start, end) + 1)
}

function Heading({ name, sort, onSort }: { name: ColumnName; sort: Sort; onSort(key: SortKey): void }) {
  const heading = headingOf(name)
  if (!isSortKey(name)) {
    return (
      <th scope="col" className={`orders-${name}`}>
        <span className="bare soft orders-sort">{heading}</span>
      </th>
    )
  }
  const isSorted = sort.orderBy === name
  const direction = sort.order === 'Asc' ? 'ascending' : 'descending'
  return (
    <th scope="col" className={`orders-${name}`} aria-sort={isSorted ? direction : undefined}>
      <button type="button" className="bare soft orders-sort" onClick={() => onSort(name)}>
        <span>{heading}</span>
        {isSorted && <ArrowIcon to={sort.order === 'Asc' ? 'up' : 'down'} />}
      </button>
    </th>
  )
}

function SelectAll({
  orders,
  chosen,
  onChoose,
}: Pick<TableProps, 'orders' | 'onChoose'> & { chosen: Chosen }) {
  const box = useRef<HTMLInputElement>(null)
  const selectable = orders.filter(isChoosable)
  const count = selectable.filter(({ id }) => chosen.has(id)).length
  const isAll = count > 0 && count === selectable.length
  useEffect(() => {
    if (box.current) box.current.indeterminate = count > 0 && !isAll
  })
  if (selectable.length === 0) return <td className="orders-select" />
  return (
    <th scope="col" className="orders-select">
      <label title="All orders on this page that you can approve">
        <input
          ref={box}
          type="checkbox"
          aria-label="Select all orders on this page that you can approve"
          checked={isAll}
          onChange={() => onChoose(selectable, !isAll)}
        />
      </label>
    </th>
  )
}

interface BodyProps extends Pick<TableProps, 'onOpen'> {
  children: ReactNode
  onToggle(id: string, isRange: boolean): void
}

/** Listens for all its rows, so that a hundred rows need no listener each. */
function Body({ children, onToggle, onOpen }: BodyProps) {
  function press(event: MouseEvent) {
    const id = rowIdOf(event.target)
    const isBrowsers = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
    if (id === undefined || isBrowsers || isControl(event.target)) return
    event.preventDefault()
    onOpen(id)
  }
  /** With Shift, changes every row from the box that was pressed before. */
  function change({ target, nativeEvent }: SyntheticEvent) {
    const id = rowIdOf(target)
    if (id !== undefined) onToggle(id, 'shiftKey' in nativeEvent && nativeEvent.shiftKey === true)
  }
  return (
    <tbody onClick={press} onChange={change} onKeyDown={(event: KeyboardEvent) => moveFromRow(event)}>
      {children}
    </tbody>
  )
}

function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest('label, input') !== null
}

interface RowProps {
  order: ListedOrder
  maySelect: boolean
  isChosen: boolean
  shown: readonly ColumnName[]
}

const Row = memo(function Row({ order, maySelect, isChosen, shown }: RowProps) {
  const { id, customer } = order
  return (
    <tr
      data-id={id}
      className={isChosen ? 'orders-row linked-row orders-row-chosen' : 'orders-row linked-row'}
    >
      {maySelect && (
        <td className="orders-select">
          {isChoosable(order) && <SelectOne name={`${customer}, ${numberOf(order)}`} isChosen={isChosen} />}
        </td>
      )}
      {shown.map((name) => cells[name](order, shown))}
    </tr>
  )
})

/** The table body listens for its changes. */
function SelectOne({ name, isChosen }: { name: string; isChosen: boolean }) {
  return (
    <label>
      <input
        ref={leavesFocusToRow}
        type="checkbox"
        aria-label={`Select ${name}`}
        checked={isChosen}
        onChange={nothing}
      />
    </label>
  )
}

/** The box disappears once the list hears that its order is decided. */
function leavesFocusToRow(box: HTMLInputElement): () => void {
  return () => {
    if (document.activeElement === box) box.closest('tr')?.querySelector('a')?.focus()
  }
}

function nothing(): void {
  // React requires a listener on every checkbox that it controls.
}
