import type { ReactNode } from 'react'
import { formatTotal } from '../../../ui/format.ts'
import { Name } from '../../../ui/name.tsx'
import { Table } from '../../../ui/table.tsx'
import type { VersionedOrder } from '../../order.ts'
import { allows } from '../../states.ts'
import { Status } from '../../status.tsx'
import { changesOf } from '../changes.ts'
import { DecidedBy } from '../decided-by.tsx'
import type { Step, Subject } from '../decisions.ts'
import { DocumentNames } from './particulars.tsx'
import { changeInWords } from './question.ts'
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
      <p>
        <DecidedBy what={changeInWords(run, now, changes.length === 0)} order={now} />.
      </p>
      {changes.length > 0 && <Changes changes={changes} now={{ ...now, documents }} before={subject} />}
      {!allows(now.status, run.action) && <p>No decision needed. The page shows the order as it is now.</p>}
    </>
  )
}

export function Changes({ changes, before, now }: { changes: Fact[]; before: Shown; now: Shown }) {
  return (
    <div className="rows-to-cards">
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
    </div>
  )
}
