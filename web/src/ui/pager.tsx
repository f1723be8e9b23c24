import './pager.css'
import { formatCount } from './format.ts'
import { ArrowIcon } from './icons.tsx'
import { pageSizes, rowsOf } from './paging.ts'

interface PagerProps {
  /** The page on the screen. */
  page: { items: readonly unknown[]; pageNumber: number; totalPages: number; totalCount?: number }
  pageSize: number
  /** The page that was last requested; it may still be loading. */
  wantedPage: number
  onPage(pageNumber: number): void
  /** Absent if there is no choice. */
  onPageSize?(pageSize: number): void
}

/** Which rows are shown, and buttons to the others. They keep the focus at both ends. */
export function Pager({ page, pageSize, wantedPage, onPage, onPageSize }: PagerProps) {
  const { items, pageNumber, totalPages, totalCount } = page
  const rows = rowsOf({ pageNumber, pageSize, count: items.length })
  const step = (to: keyof typeof names, number: number) => {
    const isPossible = number >= 1 && number <= totalPages && number !== wantedPage
    return (
      <button
        type="button"
        className="button button-icon button-quiet"
        aria-label={names[to]}
        title={names[to]}
        aria-disabled={!isPossible}
        onClick={() => isPossible && onPage(number)}
      >
        <ArrowIcon to={to} />
      </button>
    )
  }
  return (
    <nav className="row nowrap gap-3 pager" aria-label="Pages">
      <div className="row nowrap gap-0 pager-steps">
        {step('first', 1)}
        {step('left', wantedPage - 1)}
        {step('right', wantedPage + 1)}
        {step('last', totalPages)}
      </div>
      <p className="pager-rows">
        {rows && `${formatCount(rows.first)}–${formatCount(rows.last)} of ${formatCount(totalCount ?? 0)}`}
      </p>
      {onPageSize && (
        <label className="row nowrap soft end pager-size">
          <span>Rows per page</span>
          <select
            className="input"
            aria-label="Rows per page"
            value={pageSize}
            onChange={({ target }) => onPageSize(Number(target.value))}
          >
            {pageSizes.map((size) => (
              <option key={size}>{size}</option>
            ))}
          </select>
        </label>
      )}
    </nav>
  )
}

const names = { first: 'First page', left: 'Previous page', right: 'Next page', last: 'Last page' }
