import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ReadFailure } from '../../ui/failure.tsx'
import { formatInstant } from '../../ui/format.ts'
import { Table } from '../../ui/table.tsx'
import { WebhooksFrame } from '../frame.tsx'
import { type Webhook, webhooksQuery } from './queries.ts'
import { Sign } from './sign.tsx'
import { eventsInWords, stateInWords } from './words.ts'

/** Every webhook. */
export function WebhooksView() {
  return (
    <WebhooksFrame
      title="Webhooks"
      lead="Addresses of other systems. Each is sent the events of the log that it asks for, in their order."
      add={{ to: '/webhooks/new', name: 'Add webhook' }}
    >
      <List />
    </WebhooksFrame>
  )
}

function List() {
  const query = useQuery(webhooksQuery)
  return (
    <>
      <ReadFailure query={query} />
      {query.data?.length === 0 && (
        <p className="soft">
          There are no webhooks yet. A webhook lets another system know of an approval, say, as soon as it is
          in the log.
        </p>
      )}
      {query.data && query.data.length > 0 && (
        <div className="card table rows-to-cards admin-table">
          <Table
            caption="Webhooks"
            rows={query.data}
            keyOf={({ id }) => id}
            columns={Object.entries(columns)}
          />
        </div>
      )}
    </>
  )
}

const columns = {
  Address: ({ id, url }: Webhook) => (
    <Link to="/webhooks/$id" params={{ id }}>
      {url}
    </Link>
  ),
  Events: ({ events }: Webhook) => eventsInWords(events),
  Added: ({ createdAtUtc }: Webhook) => formatInstant(createdAtUtc),
  State: (webhook: Webhook) => {
    const { lines, ...sign } = stateInWords(webhook)
    return (
      <>
        <Sign {...sign} />
        {sign.word !== 'Up to date' && <div className="soft small">{lines[0]}</div>}
      </>
    )
  },
}
