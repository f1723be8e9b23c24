import { memo, useDeferredValue, useMemo, useState } from 'react'
import { Check } from '../../ui/check.tsx'
import { formatCount } from '../../ui/format.ts'
import { Name } from '../../ui/name.tsx'
import type { Result, Row } from './rows.ts'
import { results, sheet } from './sending.ts'
import { doubleInWords, resultWords, rowsInWords } from './words.ts'

/** The rows as they are understood, and what is wrong with them, each in its cell. */
export function SheetTable({ rows }: { rows: readonly Row[] }) {
  const { sent } = sheet.use()
  // A thousand rows are drawn when there is time; the sending does not wait for them.
  const known = useDeferredValue(results.use())
  const [isNarrowed, setNarrowed] = useState(false)
  const chosen = useMemo(() => new Set(sent?.rows), [sent])
  const needsCare = ({ number, values, double }: Row) =>
    values === undefined || known[number]?.kind === 'failed' || (!sent && double !== undefined)
  const careful = rows.filter(needsCare)
  const shown = isNarrowed && careful.length > 0 ? careful : rows
  return (
    <section className="card card-stack" aria-labelledby="sheet-rows">
      <div className="row row-between">
        <h2 id="sheet-rows">Orders of the sheet</h2>
        {careful.length > 0 && (
          <Check isOn={isNarrowed} onTurn={setNarrowed}>
            Show only the {rowsInWords(careful.length)} to check
          </Check>
        )}
      </div>
      <table className="table sheet-table">
        <caption className="visually-hidden">The rows of the sheet</caption>
        <thead>
          <tr>
            <th scope="col" className="number">
              Row
            </th>
            <th scope="col">Customer</th>
            <th scope="col" className="number">
              Total
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <SheetRow
              key={row.number}
              row={row}
              result={known[row.number]}
              isLeftOut={sent !== undefined && row.values !== undefined && !chosen.has(row.number)}
            />
          ))}
        </tbody>
      </table>
    </section>
  )
}

interface SheetRowProps {
  row: Row
  result: Result | undefined
  isLeftOut: boolean
}

/** Drawn again only when its result comes: there may be a thousand. */
const SheetRow = memo(function SheetRow({ row, result, isLeftOut }: SheetRowProps) {
  const { number, customer, total, note = '', faults, reading } = row
  return (
    <tr>
      <th scope="row" className="number soft">
        {formatCount(number)}
      </th>
      <td>
        <CellText text={customer} fault={faults.customer}>
          <Name of={customer.trim()} />
        </CellText>
        {note.trim() !== '' && (
          <div className="small soft">
            <CellText text={note} fault={faults.note}>
              <Name className="clamped" of={note.trim()} />
            </CellText>
          </div>
        )}
        {row.fault !== undefined && <p className="field-error">{row.fault}</p>}
        <RowState {...{ row, result, isLeftOut }} />
      </td>
      <td className="number">
        <CellText text={total} fault={faults.total}>
          {reading.ok && reading.meaning}
        </CellText>
        {reading.ok && reading.otherwise !== undefined && (
          <p className="small sheet-doubt">Not {reading.otherwise}</p>
        )}
      </td>
    </tr>
  )
})

function CellText({
  text,
  fault,
  children,
}: {
  text: string
  fault: string | undefined
  children: React.ReactNode
}) {
  if (fault === undefined) return children
  return (
    <>
      {text.trim() !== '' && <Name className="sheet-fault" of={text.trim()} />}
      <p className="field-error">{fault}</p>
    </>
  )
}

function RowState({ row, result, isLeftOut }: SheetRowProps) {
  if (result?.kind === 'failed') return <p className="field-error">{result.why}</p>
  if (result) return <p className="small sheet-made">{resultWords[result.kind]}</p>
  const words = isLeftOut ? 'Left out' : doubleInWords(row.double)
  return words !== undefined && <p className={isLeftOut ? 'small soft' : 'small sheet-doubt'}>{words}</p>
}
