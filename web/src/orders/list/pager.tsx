import { isMoved } from '../../ui/activity.ts'
import { formatCount } from '../../ui/format.ts'
import { ArrowIcon } from '../../ui/icons.tsx'
import { pageSizes, rowsOf } from './search.ts'

interface PagerProps {
  /** Of the rows that are on the screen. */
  pageNumber: number
  pageSize: number
  rowCount: number
  totalCount: number
  /** The one that was asked for last; it may be on its way. */
  wantedPage: number
  totalPages: number
  onPage(pageNumber: number): void
  onPageSize(pageSize: number): void
  /** Somebody is about to go to this page. */
  onIntent(pageNumber: number): void
}

/** Which rows these are, and the way to the others. Its buttons keep the focus at both ends. */
export function Pager(props: PagerProps) {
  const { wantedPage, totalPages, pageSize, totalCount, onPageSize } = props
  const rows = rowsOf({ ...props, count: props.rowCount })
  const step = (to: keyof typeof names, page: number) => (
    <Step
      to={to}
      page={page}
      {...props}
      isPossible={page >= 1 && page <= totalPages && page !== wantedPage}
    />
  )
  return (
    <nav className="pager" aria-label="Pages">
      <div className="pager-steps">
        {step('first', 1)}
        {step('left', wantedPage - 1)}
        {step('right', wantedPage + 1)}
        {step('last', totalPages)}
      </div>
      <p className="pager-rows">
        {rows && `${formatCount(rows.first)}–${formatCount(rows.last)} of ${formatCount(totalCount)}`}
      </p>
      <label className="pager-size">
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
  const tell = () => {
    if (isPossible) onIntent(page)
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
      onPointerMove={(event) => isMoved(event) && tell()}
      onFocus={tell}
    >
      <ArrowIcon to={to} />
    </button>
  )
}
