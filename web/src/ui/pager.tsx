import './pager.css'
import { formatCount } from './format.ts'
import { ArrowIcon } from './icons.tsx'
import { pageSizes, rowsOf } from './paging.ts'
import { isMoved } from './pointer.ts'

interface PagerProps {
  /** The page on the screen. */
  page: { items: readonly unknown[]; pageNumber: number; totalPages: number; totalCount?: number }
  pageSize: number
  /** The page that was last requested; it may still be loading. */
  wantedPage: number
  onPage(pageNumber: number): void
  /** Absent if there is no choice. */
  onPageSize?(pageSize: number): void
  /** The person is about to go to this page. */
  onIntent?(pageNumber: number): void
}

/** Which rows are shown, and buttons to the others. They keep the focus at both ends. */
export function Pager(props: PagerProps) {
  const { page, pageSize, wantedPage, onPageSize } = props
  const { items, pageNumber, totalPages, totalCount } = page
  const rows = rowsOf({ pageNumber, pageSize, count: items.length })
  const step = (to: keyof typeof names, number: number) => (
    <Step
      {...props}
      to={to}
      page={number}
      isPossible={number >= 1 && number <= totalPages && number !== wantedPage}
    />
  )
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

function Step({
  to,
  page,
  isPossible,
  onPage,
  onIntent,
}: {
  to: keyof typeof names
  page: number
  isPossible: boolean
} & Pick<PagerProps, 'onPage' | 'onIntent'>) {
  const announceIntent = () => {
    if (isPossible) onIntent?.(page)
  }
  return (
    <button
      type="button"
      className="button button-icon button-quiet"
      aria-label={names[to]}
      title={names[to]}
      aria-disabled={!isPossible}
      onClick={() => {
        if (isPossible) onPage(page)
      }}
      onPointerMove={(event) => isMoved(event) && announceIntent()}
      onFocus={announceIntent}
    >
      <ArrowIcon to={to} />
    </button>
  )
}
