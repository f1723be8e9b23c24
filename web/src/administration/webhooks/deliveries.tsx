import { useQuery } from '@tanstack/react-query'
import { Unread } from '../../ui/failure.tsx'
import { formatCount, formatExactInstant, formatInstant } from '../../ui/format.ts'
import { Name } from '../../ui/name.tsx'
import { Table } from '../../ui/table.tsx'
import { type Delivery, deliveriesQuery } from './queries.ts'
import { Sign } from './sign.tsx'
import { formatDuration, outcomeInWords } from './words.ts'

/** The last attempts to send something. */
export function Deliveries({ id, url }: { id: string; url: string }) {
  const query = useQuery(deliveriesQuery(id))
  return (
    <>
      <h2>Last deliveries</h2>
      <Unread query={query} />
      {query.data?.length === 0 && <p className="soft">Nothing has been sent yet.</p>}
      {query.data && query.data.length > 0 && (
        <div className="card table rows-to-cards admin-table">
          <Table
            caption="The last 50 deliveries, newest first"
            rows={query.data.map((delivery) => ({ ...delivery, url }))}
            keyOf={({ eventId, atUtc }) => `${eventId} ${atUtc}`}
            columns={Object.entries(columns)}
          />
        </div>
      )}
    </>
  )
}

const columns = {
  Event: ({ type, sequence }: Delivery) => (
    <>
      <code>{type}</code>
      <div className="soft small">{sequence === null ? 'Test' : `Log entry #${formatCount(sequence)}`}</div>
    </>
  ),
  Sent: ({ atUtc, durationMilliseconds }: Delivery) => (
    <>
      <time dateTime={atUtc} title={formatExactInstant(atUtc)}>
        {formatInstant(atUtc)}
      </time>
      <div className="soft small">took {formatDuration(durationMilliseconds)}</div>
    </>
  ),
  Outcome: ({ url, ...delivery }: Delivery & { url: string }) => {
    const { more, ...sign } = outcomeInWords(delivery, url)
    return (
      <>
        <Sign {...sign} />
        <div className="soft small">{more}</div>
      </>
    )
  },
  Answer: ({ answer }: Delivery) =>
    answer ? <Name of={answer} className="code small" /> : <span className="soft">None</span>,
}
