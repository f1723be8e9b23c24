import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { logKeys } from '../api/log-keys.ts'
import { useAction } from '../auth/action.ts'
import { ExportFailure } from '../orders/export/failure.tsx'
import { EndNote } from '../ui/failure.tsx'
import { CheckIcon, DownloadIcon } from '../ui/icons.tsx'
import { ModalDialog } from '../ui/modal.tsx'
import { eventsInWords, exportLog, logExport, type SavedCheckpoint, saveCheckpoint } from './queries.ts'

/** A button, and behind it the steps in which anyone can check the log. */
export function Proof() {
  const [isOpen, setOpen] = useState(false)
  const saving = useAction(saveCheckpoint)
  return (
    <>
      <Button className="button" onPress={() => setOpen(true)}>
        <CheckIcon /> Check it
      </Button>
      <ModalDialog title="Check the log yourself" isOpen={isOpen} onOpenChange={setOpen}>
        <ol className="stack gap-3">
          <li>
            <p>
              Save a checkpoint. Keep one now and then where the people who run this service cannot reach it:
              if anyone later changes an entry that it covers, you will notice.
            </p>
            <Checkpoint saving={saving} />
          </li>
          <li>
            <p>Save the log.</p>
            <Whole limit={saving.data?.size} />
          </li>
          <li>
            <p>
              Open{' '}
              <a href="/verify" target="_blank" rel="noreferrer">
                the page that checks
              </a>
              , and add both files there. It can also be saved, and works without this service.
            </p>
          </li>
        </ol>
        <p>
          <a href="/auditing">What this proves, and how</a>
        </p>
        <details>
          <summary>For administrators</summary>
          <Command />
        </details>
        <div className="row dialog-actions">
          <Button className="button" slot="close">
            Close
          </Button>
        </div>
      </ModalDialog>
    </>
  )
}

/** With the keys of this service: keep them with the checkpoints, because a key can be replaced. */
function Command() {
  const { data: keys = [] } = useQuery({ queryKey: ['log-keys'], queryFn: logKeys })
  return (
    <code className="wrap">
      countersign log verify --export log.jsonl --checkpoint checkpoint-….txt
      {keys.map((key) => ` --log-key ${key}`)}
    </code>
  )
}

function Checkpoint({ saving }: { saving: ReturnType<typeof useAction<void, SavedCheckpoint>> }) {
  const { act, data, error } = saving
  return (
    <div className="row">
      <Button className="button button-primary" onPress={() => act()}>
        <DownloadIcon /> Save checkpoint
      </Button>
      <div role="status">
        {error && <EndNote failure={error} />}
        {data && `${data.name} has been saved. It covers ${eventsInWords(data.size)}.`}
      </div>
    </div>
  )
}

/** Up to the checkpoint, if one was saved: nothing binds the lines after it. */
function Whole({ limit }: { limit: number | undefined }) {
  const exporting = logExport.use()
  const isRunning = exporting.kind === 'running'
  return (
    <div className="row">
      <Button className="button" onPress={() => (isRunning ? logExport.stop() : void exportLog(limit))}>
        <DownloadIcon /> {isRunning ? 'Stop' : 'Save log'}
      </Button>
      <div role="status">
        {isRunning && 'Exporting …'}
        {!isRunning && exporting.failure !== undefined && <ExportFailure failure={exporting.failure} />}
      </div>
      {isRunning && <span className="soft small">{eventsInWords(exporting.count)} so far</span>}
    </div>
  )
}
