import type { ReactNode } from 'react'
import { Name } from '../../ui/name.tsx'
import { countInWords } from '../decide/changes.ts'
import { type ColumnName, headingOf } from '../fields.ts'
import { numberOf } from '../identity.ts'
import type { ListedOrder } from '../order.ts'
import { allows } from '../states.ts'
import { Status } from '../status.tsx'
import { exactInstantText, instantText, totalText } from './format.ts'

type Cell = (order: ListedOrder, shown: readonly ColumnName[]) => ReactNode

/** The cell of an order in each column. */
export const cells: Record<ColumnName, Cell> = {
  customer: ({ id, customer, number, documents }, shown) => (
    <th key="customer" scope="row" className="orders-customer">
      <a href={`/orders/${id}`}>
        <Name of={customer} className="clamped" />
      </a>
      <Below
        number={shown.includes('number') ? '' : numberOf({ number })}
        documents={countInWords(documents)}
      />
    </th>
  ),
  number: ({ number }) => (
    <td key="number">
      <code className="orders-short soft">{numberOf({ number })}</code>
    </td>
  ),
  total: ({ total }) => (
    <td key="total" className="orders-total number" data-label="Total">
      {totalText(total)}
    </td>
  ),
  status: ({ status }) => (
    <td key="status" className="orders-status">
      <Status status={status} />
    </td>
  ),
  createdAtUtc: ({ createdAtUtc }) => instantCell('createdAtUtc', createdAtUtc),
  updatedAtUtc: ({ updatedAtUtc }) => instantCell('updatedAtUtc', updatedAtUtc),
  createdBy: ({ createdBy }) => personCell('createdBy', createdBy),
  approvedBy: ({ approvedBy }) => personCell('approvedBy', approvedBy),
  approvalsMissing: ({ status, approvalsMissing }) => (
    <td
      key="approvalsMissing"
      className="orders-approvalsMissing soft"
      data-label={headingOf('approvalsMissing')}
    >
      {allows(status, 'approve') ? approvalsMissing : <Nothing />}
    </td>
  ),
}

/** Such as "#1042 · 2 documents". */
function Below({ number, documents }: { number: string; documents: string }) {
  if (number === '' && documents === '') return null
  return (
    <span className="orders-short soft">
      {number && <code>{number}</code>}
      {number && documents && ' · '}
      {documents}
    </span>
  )
}

function instantCell(name: 'createdAtUtc' | 'updatedAtUtc', instant: string | null | undefined): ReactNode {
  return (
    <td key={name} className={`orders-instant soft orders-${name}`} data-label={headingOf(name)}>
      {instant == null ? (
        <Nothing />
      ) : (
        <time dateTime={instant} title={exactInstantText(instant)}>
          {instantText(instant)}
        </time>
      )}
    </td>
  )
}

function personCell(name: 'createdBy' | 'approvedBy', person: string | null | undefined): ReactNode {
  return (
    <td key={name} className={`orders-person clip soft orders-${name}`} data-label={headingOf(name)}>
      {person == null ? <Nothing /> : <Name of={person} />}
    </td>
  )
}

/** A dash that screen readers skip. */
function Nothing() {
  return <span aria-hidden="true">–</span>
}
