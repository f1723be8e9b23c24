import { Moment } from '../moment.tsx'
import { approved, type Order } from '../order.ts'

/** Who did what to the order, and when; the oldest first, and what is still to come last. */
export function OrderHistory({ order }: { order: Order | undefined }) {
  return (
    <section className="order-history" aria-labelledby="order-history">
      <h2 id="order-history">History</h2>
      <ol className="order-events">{order ? <Events order={order} /> : <EventsToCome />}</ol>
    </section>
  )
}

function Events({ order }: { order: Order }) {
  const isApproved = order.status === approved
  const isChanged = isApproved || order.updatedAtUtc !== null
  return (
    <>
      <Event
        what="Created"
        who={order.createdBy}
        instant={order.createdAtUtc}
        timeZone={order.createdAtTimeZone}
      />
      {isChanged && (
        <Event
          what={isApproved ? 'Approved' : 'Changed'}
          who={order.modifiedBy}
          instant={order.updatedAtUtc}
          timeZone={order.updatedAtTimeZone}
        />
      )}
      {!isApproved && (
        <li className="order-event order-event-to-come">
          <strong>Waiting for approval</strong>
        </li>
      )}
    </>
  )
}

interface EventProps {
  what: 'Created' | 'Approved' | 'Changed'
  who: string | null
  /** Null for what has happened just now, until the service has told its time. */
  instant: string | null
  timeZone: string | null
}

function Event({ what, who, instant, timeZone }: EventProps) {
  return (
    <li className={what === 'Approved' ? 'order-event order-event-approved' : 'order-event'}>
      <div>
        <strong>{what}</strong> by {who === null ? 'unknown' : <bdi>{who}</bdi>}
      </div>
      <div>{instant === null ? 'Just now' : <Moment instant={instant} timeZone={timeZone} />}</div>
    </li>
  )
}

function EventsToCome() {
  return ['first', 'second'].map((key) => (
    <li key={key} className="order-event">
      <div>
        <span className="skeleton order-skeleton-short" />
      </div>
      <div>
        <span className="skeleton order-skeleton-long" />
      </div>
    </li>
  ))
}
