import type { ReactNode } from 'react'
import { useUser } from '../../../auth/session.ts'
import { formatTotal } from '../../../ui/format.ts'
import { Moment } from '../../../ui/moment.tsx'
import { Name } from '../../../ui/name.tsx'
import { Table } from '../../../ui/table.tsx'
import type { Order, VersionedOrder } from '../../order.ts'
import { allows } from '../../states.ts'
import { Status } from '../../status.tsx'
import { changesOf } from '../changes.ts'
import type { Step, Subject } from '../decisions.ts'
import { DocumentNames } from './particulars.tsx'
import { changeInWords, ownChangeInWords } from './question.ts'
import type { Run } from './run.ts'

type Fact = ReturnType<typeof changesOf>[number]

type Shown = Pick<Subject, 'customer' | 'total' | 'status' | 'documents'>

const facts: Record<Fact, { name: string; show(of: Shown): ReactNode }> = {
  customer: { name: 'Customer', show: ({ customer }) => <Name of={customer} /> },
  total: { name: 'Total', show: ({ total }) => formatTotal(total) },
  status: { name: 'Status', show: ({ status }) => <Status status={status} /> },
  documents: { name: 'Documents', show: ({ documents }) => <DocumentNames of={documents} /> },
}

interface ChangedProps {
  run: Run
  step: Step
  now: VersionedOrder
}

/** What someone else did to the order: who, when, and field by field. */
export function WhatChanged({ run, step: { subject }, now: version }: ChangedProps) {
  const { order: now, documents } = version
  const changes = changesOf(subject, version)
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
      {changes.length > 0 && <Changes changes={changes} now={{ ...now, documents }} before={subject} />}
      {!allows(now.status, run.action) && <p>No decision needed. The page shows the order as it is now.</p>}
    </>
  )
}

export function Changes({ changes, before, now }: { changes: Fact[]; before: Shown; now: Shown }) {
  return (
    <Table
      className="table decide-changes"
      caption="What has changed"
      rows={changes}
      keyOf={(fact) => fact}
      columns={[
        ['', (fact) => facts[fact].name],
        ['Before', (fact) => <span className="soft">{facts[fact].show(before)}</span>],
        ['Now', (fact) => facts[fact].show(now)],
      ]}
    />
  )
}

/** `isSame`: only an approval was given, and nothing about the order is different. */
function Who({ run, order, isSame }: { run: Run; order: Order; isSame: boolean }) {
  const { userName } = useUser()
  const what = changeInWords(run, order, isSame)
  if (order.modifiedBy === userName) return ownChangeInWords(run, order, what)
  return (
    <>
      {what} by <strong>{order.modifiedBy === null ? 'someone else' : <Name of={order.modifiedBy} />}</strong>{' '}
      while you were looking at it.
    </>
  )
}
