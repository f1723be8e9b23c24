import { type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { Fragment, type ReactNode, useState } from 'react'
import { FailureNote } from '../ui/failure.tsx'
import { Pager } from '../ui/pager.tsx'
import { pageSize } from './queries.ts'

interface Page<Row> {
  items: Row[]
  pageNumber: number
  totalPages: number
  totalCount?: number
}

interface AccountListProps<Row, Key extends readonly unknown[]> {
  caption: string
  query(pageNumber: number): UseQueryOptions<Page<Row>, Error, Page<Row>, Key>
  /** By heading. The first names the row. */
  columns: Readonly<Record<string, (row: Row) => ReactNode>>
  empty: string
}

/** Accounts of one kind, a page at a time. */
export function AccountList<Row extends { id: number }, Key extends readonly unknown[]>(
  props: AccountListProps<Row, Key>,
) {
  const { caption, query, columns, empty } = props
  const [pageNumber, setPageNumber] = useState(1)
  const { data, failureReason, refetch } = useQuery(query(pageNumber))
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
                {cells.map(([heading, contentOf], at) => (
                  <Fragment key={heading}>
                    {at === 0 ? (
                      <th scope="row">{contentOf(row)}</th>
                    ) : (
                      <td data-label={heading}>{contentOf(row)}</td>
                    )}
                  </Fragment>
                ))}
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
