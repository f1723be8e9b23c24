import type { ReactNode } from 'react'
import { Name } from '../../ui/name.tsx'
import { type ColumnName, columns } from '../fields.ts'
import { shortNumber } from '../identity.ts'
import type { ListedOrder } from '../order.ts'
import { allows } from '../states.ts'
import { Status } from '../status.tsx'
import { exactInstantText, instantText, lackingDigits, totalText } from './format.ts'

type Cell = (order: ListedOrder, shown: readonly ColumnName[]) => ReactNode

/** What each column says about an order. */
export const cells: Record<ColumnName, Cell> = {
  customer: ({ id, customer }, shown) => (
    <th key="customer" scope="row" className="orders-customer">
      <a href={`/orders/${id}`}>
        <Name of={customer} className="clamped" />
      </a>
      {!shown.includes('id') && <code className="orders-number soft">{shortNumber(id)}</code>}
    </th>
  ),
  id: ({ id }) => (
    <td key="id" className="orders-id">
      <code className="orders-number soft">{shortNumber(id)}</code>
    </td>
  ),
  total: ({ total }) => (
    <td
      key="total"
      className="orders-total number"
      data-label="Total"
      data-short={lackingDigits(total) || undefined}
    >
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
  approvedBy: ({ approvedBy, approvalsGiven = 1 }) =>
    personCell('approvedBy', approvedBy, approvalsGiven > 1 ? ` +${approvalsGiven - 1}` : ''),
  approvalsMissing: ({ status, approvalsMissing }) => (
    <td
      key="approvalsMissing"
      className="orders-approvalsMissing soft"
      data-label={columns.approvalsMissing.heading}
    >
      {allows(status, 'approve') ? approvalsMissing : <Nothing />}
    </td>
  ),
}

function instantCell(name: 'createdAtUtc' | 'updatedAtUtc', instant: string | null | undefined): ReactNode {
  return (
    <td key={name} className={`orders-instant soft orders-${name}`} data-label={columns[name].heading}>
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

function personCell(
  name: 'createdBy' | 'approvedBy',
  person: string | null | undefined,
  others = '',
): ReactNode {
  return (
    <td key={name} className={`orders-person clip soft orders-${name}`} data-label={columns[name].heading}>
      {person == null ? (
        <Nothing />
      ) : (
        <>
          <Name of={person} />
          {others}
        </>
      )}
    </td>
  )
}

/** A dash that screen readers skip. */
function Nothing() {
  return <span aria-hidden="true">–</span>
}
