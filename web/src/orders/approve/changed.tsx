import { useUser } from '../../auth/session.ts'
import { formatTotal } from '../../ui/format.ts'
import { Name } from '../../ui/name.tsx'
import { Moment } from '../moment.tsx'
import type { Order } from '../order.ts'
import { approved, pending } from '../states.ts'
import { Status } from '../status.tsx'
import { type Change, changesOf } from './changes.ts'

interface WhatChangedProps {
  before: { customer: string; total: number }
  now: Order
  /** An approval was sent and its answer never came. */
  wasSent: boolean
}

/** What another person did to the order meanwhile: who, when, and field by field. */
export function WhatChanged({ before, now, wasSent }: WhatChangedProps) {
  const changes = changesOf({ ...before, status: pending }, now)
  return (
    <>
      <div>
        <p>
          <Who order={now} wasSent={wasSent} />
        </p>
        {now.updatedAtUtc !== null && (
          <div className="small">
            <Moment instant={now.updatedAtUtc} timeZone={now.updatedAtTimeZone} />
          </div>
        )}
      </div>
      <table className="approve-changes">
        <caption className="visually-hidden">What has changed</caption>
        <thead>
          <tr>
            <td />
            <th scope="col">Before</th>
            <th scope="col">Now</th>
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => (
            <tr key={change.field}>
              <th scope="row">{fieldNames[change.field]}</th>
              <td className="soft">
                <Value change={change} of="before" />
              </td>
              <td>
                <Value change={change} of="now" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {now.status === approved && <p>There is nothing left to do. The page shows the order as it is now.</p>}
    </>
  )
}

const fieldNames = { customer: 'Customer', total: 'Total', status: 'Status' }

function Who({ order: { modifiedBy, status }, wasSent }: { order: Order; wasSent: boolean }) {
  const { userName } = useUser()
  const isApproved = status === approved
  if (modifiedBy === userName) {
    if (wasSent && isApproved) return 'Your approval went through; only the answer was lost.'
    const deed = isApproved ? 'approved' : 'changed'
    return `You ${deed} it yourself, perhaps in another tab.`
  }
  const deed = isApproved ? 'approved it first' : 'changed it while you were looking at it'
  return (
    <>
      {modifiedBy === null ? (
        'Somebody else'
      ) : (
        <strong>
          <Name of={modifiedBy} />
        </strong>
      )}{' '}
      {deed}.
    </>
  )
}

function Value({ change, of }: { change: Change; of: 'before' | 'now' }) {
  if (change.field === 'customer') return <Name of={change[of]} />
  if (change.field === 'total') return formatTotal(change[of])
  return <Status status={change[of]} />
}
