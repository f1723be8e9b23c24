import type { PolicyRow } from '../orders/policy.ts'
import { Table } from '../ui/table.tsx'
import { fromInWords } from './words.ts'

export function PolicyTable({ rows }: { rows: readonly PolicyRow[] }) {
  return (
    <div className="rows-to-cards">
      <Table
        className="table"
        caption="Approval policy"
        rows={rows.toReversed()}
        keyOf={({ from }) => from}
        columns={[
          ['Total', (row) => fromInWords(row, rows.length === 1)],
          ['Approvals', ({ approvals }) => approvals],
          ['By its creator', ({ selfApproval }) => (selfApproval ? 'Yes' : 'No')],
          ['By services', ({ services, passkey }) => (services && !passkey ? 'Yes' : 'No')],
          ['Role', ({ role }) => role ?? 'Any'],
          ['Passkey', ({ passkey }) => (passkey ? 'Yes' : 'No')],
        ]}
      />
    </div>
  )
}
