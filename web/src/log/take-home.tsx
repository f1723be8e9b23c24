import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { exportFailure } from '../orders/export/words.ts'
import { FailureNote } from '../ui/failure.tsx'
import { formatCount } from '../ui/format.ts'
import { DownloadIcon } from '../ui/icons.tsx'
import { Note } from '../ui/note.tsx'
import { saveCheckpoint, saveLog } from './queries.ts'

const events = (count: number) => `${formatCount(count)} ${count === 1 ? 'event' : 'events'}`

/** The files by which somebody can check the log without the service. */
export function TakeHome() {
  return (
    <section className="card log-home" aria-labelledby="log-home">
      <h2 id="log-home">Check it yourself</h2>
      <p className="soft">
        Keep a checkpoint now and then where whoever runs this service cannot reach. No event that it covers
        can be changed or removed afterwards without your noticing.
      </p>
      <Checkpoint />
      <Whole />
      <p className="row">
        <a className="button" href="/.well-known/jwks.json" download="jwks.json">
          <DownloadIcon /> Save the keys
        </a>
        <span className="soft small">They verify the signature of a checkpoint.</span>
      </p>
      <p>
        Then, on any machine:{' '}
        <code className="log-command">
          npx countersign log verify --export log.jsonl --checkpoint checkpoint-….txt --jwks jwks.json
        </code>
      </p>
    </section>
  )
}

function Checkpoint() {
  const saving = useMutation({ mutationFn: saveCheckpoint })
  const { data, error } = saving
  return (
    <div className="row">
      <Button className="button button-primary" onPress={() => saving.isPending || saving.mutate()}>
        <DownloadIcon /> Save a checkpoint
      </Button>
      <div role="status">
        {error && <FailureNote failure={error} />}
        {data && `${data.name} has been saved; it covers ${events(data.size)}.`}
      </div>
    </div>
  )
}

/** Ends with the page. */
function Whole() {
  const run = useRef<AbortController>(undefined)
  const [count, setCount] = useState(0)
  const saving = useMutation({
    mutationFn: () => {
      run.current = new AbortController()
      setCount(0)
      return saveLog(run.current, setCount)
    },
  })
  const { isPending, data, error } = saving
  const stop = () => run.current?.abort()
  useEffect(() => () => run.current?.abort(), [])
  const isStopped = run.current?.signal.aborted === true
  return (
    <div className="row">
      <Button className="button" onPress={() => (isPending ? stop() : saving.mutate())}>
        <DownloadIcon /> {isPending ? 'Stop the export' : 'Export the log'}
      </Button>
      <div role="status">
        {isPending && 'Exporting …'}
        {error && !isStopped && <Failure failure={error} />}
        {data !== undefined && `log.jsonl has been saved, with ${events(data)}.`}
        {data === undefined && !isPending && isStopped && 'Nothing was saved.'}
      </div>
      {isPending && <span className="soft small">{events(count)} so far</span>}
    </div>
  )
}

function Failure({ failure }: { failure: unknown }) {
  const { title, detail } = exportFailure(failure)
  return <Note kind="warning" title={title} lines={[detail, 'Nothing was saved.']} />
}
