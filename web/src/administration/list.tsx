import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useId, useState } from 'react'
import { useCalm } from '../ui/calm.ts'
import { ReadFailure } from '../ui/failure.tsx'
import { formatCount } from '../ui/format.ts'
import { Pager } from '../ui/pager.tsx'
import { Table } from '../ui/table.tsx'
import { pageSize } from './queries.ts'

interface Page<Row> {
  items: Row[]
  pageNumber: number
  totalPages: number
  totalCount?: number
}

interface AccountListProps<Row> {
  caption: string
  usePage(pageNumber: number, filter: string): UseQueryResult<Page<Row>>
  /** By heading. The first names the row. */
  columns: Readonly<Record<string, (row: Row) => ReactNode>>
  empty: string
  /** The texts that the search looks at. */
  searched: string
}

const calmMilliseconds = 200

/** Accounts of one kind, a page at a time. */
export function AccountList<Row extends { id: number }>(props: AccountListProps<Row>) {
  const { caption, usePage, columns, empty, searched } = props
  const [typed, setTyped] = useState('')
  const [pageNumber, setPageNumber] = useState(1)
  const filter = useCalm(typed.trim(), calmMilliseconds)
  const query = usePage(pageNumber, filter)
  const { data } = query
  const totalCount = data?.totalCount ?? 0
  const search = (text: string) => {
    setTyped(text)
    setPageNumber(1)
  }
  return (
    <>
      <Search text={typed} onType={search} placeholder={searched}>
        {data && filter !== '' && `${formatCount(totalCount)} found`}
      </Search>
      <ReadFailure query={query} />
      {data && totalCount === 0 && filter === '' && <p className="soft">{empty}</p>}
      {data && totalCount > 0 && (
        <div className="card table rows-to-cards admin-table">
          <Table
            caption={caption}
            rows={data.items}
            keyOf={({ id }) => id}
            columns={Object.entries(columns)}
          />
          {data.totalPages > 1 && (
            <Pager page={data} pageSize={pageSize} wantedPage={pageNumber} onPage={setPageNumber} />
          )}
        </div>
      )}
    </>
  )
}

interface SearchProps {
  text: string
  onType(text: string): void
  placeholder: string
  /** The result. */
  children: ReactNode
}

function Search({ text, onType, placeholder, children }: SearchProps) {
  const id = useId()
  return (
    <search className="field admin-search">
      <label htmlFor={id}>Search</label>
      <input
        id={id}
        type="search"
        className="input"
        value={text}
        maxLength={254}
        placeholder={placeholder}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        onChange={({ target }) => onType(target.value)}
      />
      <p className="soft small" role="status">
        {children}
      </p>
    </search>
  )
}
