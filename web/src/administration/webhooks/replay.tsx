import { useState } from 'react'
import { useAction } from '../../auth/action.ts'
import { announce } from '../../ui/announce.ts'
import { Form, Submit } from '../../ui/form.tsx'
import { formatCount } from '../../ui/format.ts'
import { Input } from '../../ui/input.tsx'
import { Refused } from '../pieces.tsx'
import { replayWebhook, type Webhook } from './queries.ts'

/** Sends events again. */
export function Replay({ webhook: { id } }: { webhook: Webhook }) {
  const [from, setFrom] = useState('')
  const replaying = useAction(
    (sent: string) => replayWebhook(id, Number(sent)),
    (_, sent) => {
      announce(`Sending again from log entry #${formatCount(Number(sent))} on`)
      setFrom((now) => (now === sent ? '' : now))
    },
  )
  return (
    <Form className="card card-stack" aria-label="Send events again" onSubmit={() => replaying.act(from)}>
      <h2>Send events again</h2>
      <p className="soft">
        Everything that the webhook asks for is sent again from a log entry on, in order. Events that it had
        already are marked as a replay.
      </p>
      <Input
        type="number"
        label="First log entry"
        missing="Enter the number of a log entry."
        min={1}
        value={from}
        onChange={({ target }) => setFrom(target.value)}
      />
      <Refused failure={replaying.error} />
      <div className="row">
        <Submit className="button" isClosed={replaying.isPending}>
          Send again
        </Submit>
      </div>
    </Form>
  )
}
