import type { ReactNode } from 'react'
import { useUser } from '../../../auth/session.ts'
import { formatTotal } from '../../../ui/format.ts'
import { Moment } from '../../../ui/moment.tsx'
import { Name } from '../../../ui/name.tsx'
import type { Order } from '../../order.ts'
import { allows, nameOf } from '../../states.ts'
import { Status } from '../../status.tsx'
import { actions, stateAfter } from '../actions.ts'
import { changesOf } from '../changes.ts'
import type { Step, Subject } from '../decisions.ts'
import type { Run } from './run.ts'

type Fact = ReturnType<typeof changesOf>[number]

const facts: Record<Fact, { name: string; show(of: Subject | Order): ReactNode }> = {
  customer: { name: 'Customer', show: ({ customer }) => <Name of={customer} /> },
  total: { name: 'Total', show: ({ total }) => formatTotal(total) },
  status: { name: 'Status', show: ({ status }) => <Status status={status} /> },
}

/** What someone else did to the order: who, when, and field by field. */
export function WhatChanged({ run, step: { subject }, now }: { run: Run; step: Step; now: Order }) {
  const changes = changesOf(subject, now)
  return (
    <>
      <div>
        <p>
          <Who run={run} order={now} isSame={changes.length === 0} />
        </p>
        {now.updatedAtUtc !== null && (
          <div className="small">
            <Moment instant={now.updatedAtUtc} timeZone={now.updatedAtTimeZone} />
          </div>
        )}
      </div>
      {changes.length > 0 && <Changes {...{ changes, now }} before={subject} />}
      {!allows(now.status, run.action) && <p>No decision needed. The page shows the order as it is now.</p>}
    </>
  )
}

function Changes({ changes, before, now }: { changes: Fact[]; before: Subject; now: Order }) {
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
        {changes.map((fact) => (
          <tr key={fact}>
            <th scope="row">{facts[fact].name}</th>
            <td className="soft">{facts[fact].show(before)}</td>
            <td>{facts[fact].show(now)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** `isSame`: only an approval was given, and nothing about the order is different. */
function Who({ run, order, isSame }: { run: Run; order: Order; isSame: boolean }) {
  const { userName } = useUser()
  const state = nameOf(order.status)
  const isPossible = allows(order.status, run.action)
  const what = isPossible || state === undefined ? (isSame ? 'Approval given' : 'Changed') : state
  if (order.modifiedBy !== userName) {
    return (
      <>
        {what} by{' '}
        <strong>{order.modifiedBy === null ? 'someone else' : <Name of={order.modifiedBy} />}</strong> while
        you were looking at it.
      </>
    )
  }
  const wasSent = run.steps.some(({ progress }) => progress.kind === 'unclear')
  if (wasSent && state === stateAfter(run.action)) {
    return `Your ${actions[run.action].noun} went through. Only its answer was lost.`
  }
  return `${what} by you, perhaps in another tab.`
}
