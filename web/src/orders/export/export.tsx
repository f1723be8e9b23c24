import { useEffect, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { formatCount, formatOrders } from '../../ui/format.ts'
import type { ListSearch } from '../address/address.ts'
import { ExportFailure } from './failure.tsx'
import { exportOrders, ordersExport } from './running.ts'
import { exportWords } from './words.ts'

export interface ExportProps {
  search: ListSearch
  totalCount: number
}

interface PartProps extends ExportProps {
  hasFocus: boolean
  /** Called only if this part is still shown. */
  onSaved(): void
}

/** Saves the list, all its pages, as a file. */
export function Export({ search, totalCount, hasFocus, onSaved }: PartProps) {
  const exporting = ordersExport.use()
  const isShown = useRef(false)
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
    }
  }, [])
  if (exporting.kind === 'running') return <Progress {...exporting} />
  const run = () =>
    void exportOrders(search, totalCount).then((isSaved) => isSaved && isShown.current && onSaved())
  return (
    <>
      {exporting.failure !== undefined && <ExportFailure failure={exporting.failure} role="status" />}
      <p>{exportWords(search, totalCount)}</p>
      <div className="row">
        <Button className="button" autoFocus={hasFocus} onPress={run}>
          CSV <span className="soft small">for a spreadsheet</span>
        </Button>
      </div>
    </>
  )
}

function Progress({ count, of = 0 }: { count: number; of?: number | undefined }) {
  return (
    <>
      <p ref={focus} tabIndex={-1}>
        {formatCount(count)} of {formatOrders(of)}
      </p>
      <progress aria-label="Orders exported" value={Math.min(count, of)} max={of} />
      <p className="soft small">
        The file is saved once it is complete. You can keep working in the meantime.
      </p>
      <Button className="button" onPress={ordersExport.stop}>
        Stop
      </Button>
    </>
  )
}

/** The button that had the focus is gone. */
function focus(element: HTMLElement | null): void {
  element?.focus()
}
