import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { logKeys } from '../api/log-keys.ts'
import { ExportFailure } from '../orders/export/failure.tsx'
import { useAction } from '../ui/action.ts'
import { EndNote } from '../ui/failure.tsx'
import { CheckIcon, DownloadIcon } from '../ui/icons.tsx'
import { ModalDialog } from '../ui/modal.tsx'
import { eventsInWords, exportLog, logExport, saveCheckpoint } from './queries.ts'

/** A button, and behind it the files with which anyone can check the log without the service. */
export function Proof() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button className="button" onPress={() => setOpen(true)}>
        <CheckIcon /> Check it
      </Button>
      <ModalDialog title="Check the log yourself" isOpen={isOpen} onOpenChange={setOpen}>
        <p>
          Now and then, save a checkpoint where the people who run this service cannot reach it. If anyone
          then changes or removes an entry that it covers, you will notice.{' '}
          <Link to="/auditing">What this proves, and how</Link>
        </p>
        <Checkpoint />
        <p>To check, also save the log:</p>
        <Whole />
        <p>Then run this in the folder of the program, on any machine:</p>
        <Command />
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
      node server/main.ts log verify --export log.jsonl --checkpoint checkpoint-….txt
      {keys.map((key) => ` --log-key ${key}`)}
    </code>
  )
}

function Checkpoint() {
  const saving = useAction(saveCheckpoint)
  const { data, error } = saving
  return (
    <div className="row">
      <Button className="button button-primary" onPress={() => saving.act()}>
        <DownloadIcon /> Save checkpoint
      </Button>
      <div role="status">
        {error && <EndNote failure={error} />}
        {data && `${data.name} has been saved. It covers ${eventsInWords(data.size)}.`}
      </div>
    </div>
  )
}

function Whole() {
  const exporting = logExport.use()
  const isRunning = exporting.kind === 'running'
  return (
    <div className="row">
      <Button className="button" onPress={() => (isRunning ? logExport.stop() : void exportLog())}>
        <DownloadIcon /> {isRunning ? 'Stop export' : 'Export log'}
      </Button>
      <div role="status">
        {isRunning && 'Exporting …'}
        {!isRunning && exporting.failure !== undefined && <ExportFailure failure={exporting.failure} />}
      </div>
      {isRunning && <span className="soft small">{eventsInWords(exporting.count)} so far</span>}
    </div>
  )
}
