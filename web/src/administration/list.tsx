import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { FailureNote } from '../ui/failure.tsx'
import { Pager } from '../ui/pager.tsx'
import { pageSize } from './queries.ts'

interface Page<Row> {
  items: Row[]
  pageNumber: number
  totalPages: number
  totalCount?: number
}

interface AccountListProps<Row> {
  caption: string
  usePage(pageNumber: number): UseQueryResult<Page<Row>>
  /** By heading. The first names the row. */
  columns: Readonly<Record<string, (row: Row) => ReactNode>>
  empty: string
}

/** Accounts of one kind, a page at a time. */
export function AccountList<Row extends { id: number }>(props: AccountListProps<Row>) {
  const { caption, usePage, columns, empty } = props
  const [pageNumber, setPageNumber] = useState(1)
  const { data, failureReason, refetch } = usePage(pageNumber)
  const failure = failureReason && <FailureNote failure={failureReason} onRetry={() => void refetch()} />
  if (data === undefined) return failure
  if (data.totalCount === 0) return <p className="soft">{empty}</p>
  const cells = Object.entries(columns)
  return (
    <>
      {failure}
      <div className="card table admin-table admin-list">
        <table>
          <caption className="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              {cells.map(([heading]) => (
                <th key={heading} scope="col">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {data.items.map((row) => (
              <tr key={row.id}>
                {cells.map(([heading, contentOf], at) =>
                  at === 0 ? (
                    <th key={heading} scope="row">
                      {contentOf(row)}
                    </th>
                  ) : (
                    <td key={heading} data-label={heading}>
                      {contentOf(row)}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
        {data.totalPages > 1 && (
          <Pager page={data} pageSize={pageSize} wantedPage={pageNumber} onPage={setPageNumber} />
        )}
      </div>
    </>
  )
}
