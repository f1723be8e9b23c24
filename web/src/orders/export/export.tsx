import './export.css'
import { useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { formatCount, formatOrders } from '../../ui/format.ts'
import { DownloadIcon } from '../../ui/icons.tsx'
import { ModalDialog } from '../../ui/modal.tsx'
import { useShortcut } from '../../ui/shortcuts.ts'
import type { ListSearch } from '../address/address.ts'
import { ExportFailure } from './failure.tsx'
import { type ExportForm, exportOrders, ordersExport } from './running.ts'
import { exportWords, shareWords } from './words.ts'

interface ExportProps {
  search: ListSearch
  totalCount: number
}

/** Saves the list, all its pages, as a file. */
export function ExportButton({ search, totalCount }: ExportProps) {
  const [isOpen, setOpen] = useState(false)
  const exporting = ordersExport.use()
  useShortcut('e', () => setOpen(true))
  return (
    <>
      <Button
        className="button button-quiet button-small"
        aria-keyshortcuts="e"
        onPress={() => setOpen(true)}
      >
        <DownloadIcon />
        {exporting.kind === 'running' ? `Exporting ${shareWords(exporting.count, exporting.of)}` : 'Export'}
      </Button>
      <ModalDialog title="Export" isOpen={isOpen} onOpenChange={setOpen}>
        {exporting.kind === 'running' ? (
          <Progress {...exporting} />
        ) : (
          <Choice {...{ search, totalCount }} failure={exporting.failure} onSaved={() => setOpen(false)} />
        )}
      </ModalDialog>
    </>
  )
}

interface ChoiceProps extends ExportProps {
  /** Why the last export failed. */
  failure: unknown
  onSaved(): void
}

function Choice({ search, totalCount, failure, onSaved }: ChoiceProps) {
  const run = (form: ExportForm) =>
    void exportOrders(form, search, totalCount).then((isSaved) => isSaved && onSaved())
  return (
    <>
      {failure !== undefined && <ExportFailure failure={failure} role="status" />}
      <p>{exportWords(search, totalCount)}</p>
      <div className="export-forms">
        <Button className="button" onPress={() => run('csv')}>
          CSV <span className="soft small">for a spreadsheet</span>
        </Button>
        <Button className="button" onPress={() => run('jsonl')}>
          JSON Lines <span className="soft small">for a program</span>
        </Button>
      </div>
      <div className="row dialog-actions">
        <Button className="button" slot="close">
          Close
        </Button>
      </div>
    </>
  )
}

function Progress({ count, of = 0 }: { count: number; of?: number | undefined }) {
  return (
    <>
      <p>
        {formatCount(count)} of {formatOrders(of)}
      </p>
      <progress aria-label="Orders exported" value={Math.min(count, of)} max={of} />
      <p className="soft small">
        The file is saved once it is complete. You can keep working in the meantime.
      </p>
      <div className="row dialog-actions">
        <Button className="button" onPress={ordersExport.stop}>
          Stop
        </Button>
        <Button className="button" slot="close" autoFocus>
          Close
        </Button>
      </div>
    </>
  )
}
