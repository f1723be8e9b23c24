import { Name } from '../../ui/name.tsx'
import { Moment } from '../moment.tsx'
import type { Order } from '../order.ts'
import { nameOf, pending, words } from '../states.ts'

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
  const name = nameOf(order.status)
  const state = name && words[name]
  const isChanged = state?.event !== undefined || order.updatedAtUtc !== null
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
          what={state?.event ?? 'Changed'}
          tone={state?.event && state.tone}
          who={order.modifiedBy}
          instant={order.updatedAtUtc}
          timeZone={order.updatedAtTimeZone}
        />
      )}
      {order.status === pending && (
        <li className="order-event order-event-to-come">
          <strong>Waiting for approval</strong>
        </li>
      )}
    </>
  )
}

interface EventProps {
  what: string
  tone?: string | undefined
  who: string | null
  /** Null for what has happened just now, until the service has told its time. */
  instant: string | null
  timeZone: string | null
}

function Event({ what, tone, who, instant, timeZone }: EventProps) {
  return (
    <li className={tone ? `order-event tone-${tone}` : 'order-event'}>
      <div>
        <strong>{what}</strong> by {who === null ? 'an unknown user' : <Name of={who} />}
      </div>
      <div>{instant === null ? 'Just now' : <Moment instant={instant} timeZone={timeZone} />}</div>
    </li>
  )
}

function EventsToCome() {
  return ['first', 'second'].map((key) => (
    <li key={key} className="order-event">
      <div>
        <span className="skeleton" style={{ width: '9ch' }} />
      </div>
      <div>
        <span className="skeleton" style={{ width: '22ch' }} />
      </div>
    </li>
  ))
}
