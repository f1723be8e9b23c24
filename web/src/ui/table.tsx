import type { ReactNode } from 'react'

interface TableProps<Row> {
  /** For screen readers. */
  caption: string
  rows: readonly Row[]
  keyOf(row: Row): string | number
  /** The columns from left to right. The first names the row. */
  columns: readonly [heading: string, contentOf: (row: Row) => ReactNode][]
  className?: string
}

export function Table<Row>({ caption, rows, keyOf, columns, className }: TableProps<Row>) {
  const [[named, nameOf] = ['', () => null], ...others] = columns
  return (
    <table className={className}>
      <caption className="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {named === '' ? <td /> : <th scope="col">{named}</th>}
          {others.map(([heading]) => (
            <th key={heading} scope="col">
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            <th scope="row">{nameOf(row)}</th>
            {others.map(([heading, contentOf]) => (
              <td key={heading} data-label={heading}>
                {contentOf(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
