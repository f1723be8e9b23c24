import { orderStates } from '../../../../../client/src/facts.ts'
import { useUser } from '../../../auth/session.ts'
import { formatTotal } from '../../../ui/format.ts'
import { Moment } from '../../../ui/moment.tsx'
import { Name } from '../../../ui/name.tsx'
import type { Order } from '../../order.ts'
import { nameOf, pending, words } from '../../states.ts'
import { Status } from '../../status.tsx'
import type { Deed } from '../actions.ts'
import { type Change, changesOf } from './changes.ts'

interface WhatChangedProps {
  /** What the person was about to do. */
  deed: Deed
  before: { customer: string; total: number }
  now: Order
  /** It was sent, and its answer never came. */
  wasSent: boolean
}

/** What another person did to the order meanwhile: who, when, and field by field. */
export function WhatChanged({ deed, before, now, wasSent }: WhatChangedProps) {
  const changes = changesOf({ ...before, status: pending }, now)
  return (
    <>
      <div>
        <p>
          <Who deed={deed} order={now} wasSent={wasSent} hasSameFacts={changes.length === 0} />
        </p>
        {now.updatedAtUtc !== null && (
          <div className="small">
            <Moment instant={now.updatedAtUtc} timeZone={now.updatedAtTimeZone} />
          </div>
        )}
      </div>
      {changes.length > 0 && <Changes changes={changes} />}
      {now.status !== pending && <p>There is nothing left to do. The page shows the order as it is now.</p>}
    </>
  )
}

function Changes({ changes }: { changes: readonly Change[] }) {
  return (
    <table className="table decide-changes">
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
  )
}

const fieldNames = { customer: 'Customer', total: 'Total', status: 'Status' }

interface WhoProps {
  deed: Deed
  order: Order
  wasSent: boolean
  /** Only an approval was given: nothing of what is decided on is different. */
  hasSameFacts: boolean
}

function Who({ deed, order: { modifiedBy, status }, wasSent, hasSameFacts }: WhoProps) {
  const { userName } = useUser()
  const isDone = status === orderStates[deed.to]
  const change = status === pending ? (hasSameFacts ? 'approved' : 'changed') : meaningOf(status)
  if (modifiedBy === userName) {
    if (wasSent && isDone) return `Your ${deed.noun} went through; only the answer was lost.`
    return `You ${change} it yourself, perhaps in another tab.`
  }
  return (
    <>
      {modifiedBy === null ? (
        'Somebody else'
      ) : (
        <strong>
          <Name of={modifiedBy} />
        </strong>
      )}{' '}
      {change} it {isDone ? 'first' : 'while you were looking at it'}.
    </>
  )
}

function meaningOf(status: number): string {
  const name = nameOf(status)
  return name === undefined ? 'changed' : words[name].meaning
}

function Value({ change, of }: { change: Change; of: 'before' | 'now' }) {
  if (change.field === 'customer') return <Name of={change[of]} />
  if (change.field === 'total') return formatTotal(change[of])
  return <Status status={change[of]} />
}
