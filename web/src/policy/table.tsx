import type { PolicyRow } from './queries.ts'
import { fromInWords } from './words.ts'

/** The policy, to be read. */
export function PolicyTable({ rows, caption }: { rows: readonly PolicyRow[]; caption: string }) {
  return (
    <table className="table policy-table">
      <caption className="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Total</th>
          <th scope="col">Approvals</th>
          <th scope="col">By its creator</th>
          <th scope="col">By services</th>
        </tr>
      </thead>
      <tbody>
        {rows.toReversed().map((row) => (
          <tr key={row.from}>
            <th scope="row">{fromInWords(row, rows.length === 1)}</th>
            <td>{row.approvals}</td>
            <td>{row.selfApproval ? 'Yes' : 'No'}</td>
            <td>{row.services ? 'Yes' : 'No'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
