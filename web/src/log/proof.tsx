import { useMutation } from '@tanstack/react-query'
import { Button } from 'react-aria-components/Button'
import { ExportFailure } from '../orders/export/failure.tsx'
import { EndNote } from '../ui/failure.tsx'
import { DownloadIcon } from '../ui/icons.tsx'
import { Section } from '../ui/section.tsx'
import { eventsInWords, exportLog, logExport, saveCheckpoint } from './queries.ts'

/** The files with which anyone can check the log without the service. */
export function Proof() {
  return (
    <Section title="Check it yourself" className="log-home">
      <p className="soft lead">
        Now and then, save a checkpoint where the people who run this service cannot reach it. If anyone then
        changes or removes an event that it covers, you will notice.
      </p>
      <Checkpoint />
      <Whole />
      <p className="row">
        <a className="button" href="/.well-known/jwks.json" download="jwks.json">
          <DownloadIcon /> Save keys
        </a>
        <span className="soft small">They verify the signature of a checkpoint.</span>
      </p>
      <p>
        Then, in the folder of this program on any machine:{' '}
        <code className="wrap">
          node server/main.ts log verify --export log.jsonl --checkpoint checkpoint-….txt --jwks jwks.json
        </code>
      </p>
    </Section>
  )
}

function Checkpoint() {
  const saving = useMutation({ mutationFn: saveCheckpoint })
  const { data, error } = saving
  return (
    <div className="row">
      <Button className="button button-primary" onPress={() => saving.isPending || saving.mutate()}>
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
