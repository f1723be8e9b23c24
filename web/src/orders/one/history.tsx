import { Button } from 'react-aria-components/Button'
import { firstState, orderTransitions } from '../../../../client/src/facts.ts'
import { useMay } from '../../auth/session.ts'
import { formatCount } from '../../ui/format.ts'
import { Moment } from '../../ui/moment.tsx'
import { Name, Who } from '../../ui/name.tsx'
import type { Order, OrderEvent } from '../order.ts'
import { type EventWords, eventWords, isOpen, nameOf, words } from '../states.ts'
import { AddNote } from './add-note.tsx'

interface HistoryProps {
  order: Order | undefined
  /** In the order of the log; undefined while they are on their way. */
  events: readonly OrderEvent[] | undefined
  onMore: (() => void) | undefined
  isReview: boolean
}

/** Every event of the order, oldest first, followed by what is still to come. */
export function OrderHistory({ order, events, onMore, isReview }: HistoryProps) {
  const mayNote = useMay('Orders.Note')
  return (
    <section className="sheet order-history" aria-labelledby="order-history">
      <h2 id="order-history">History</h2>
      <ol>
        {events?.map((event) => <Event key={event.id} event={event} isReview={isReview} />) ?? (
          <li className="skeleton" style={{ display: 'block', height: 90 }} />
        )}
        {!onMore && order && isOpen(order.status) && <ToCome status={order.status} />}
      </ol>
      {onMore && (
        <Button className="button button-small" onPress={onMore}>
          Show more
        </Button>
      )}
      {/* Under the events: it would jump when they arrive. */}
      {order && events && mayNote && <AddNote id={order.id} />}
    </section>
  )
}

function ToCome({ status }: { status: number }) {
  const [first = '', ...rest] = words[nameOf(status) ?? firstState].meaning
  return (
    <li className="order-event order-event-to-come">
      <strong>{first.toUpperCase() + rest.join('')}</strong>
    </li>
  )
}

/** A newer service has kinds that this app does not know. */
const isKnown = (kind: string): kind is keyof typeof eventWords => Object.hasOwn(eventWords, kind)

/** The colour of the state that the event led to, or partly leads to. */
function toneOf(kind: string): string | undefined {
  const event = kind === 'approval-given' ? 'approved' : kind
  const transition = Object.values(orderTransitions).find((each) => each.event === event)
  return transition && words[transition.to].tone
}

function Event({ event, isReview }: { event: OrderEvent; isReview: boolean }) {
  const { kind, by, byName, for: absent, forName, text, document, atUtc, atTimeZone, erased: gone } = event
  const { label, erased }: Partial<EventWords> = isKnown(kind) ? eventWords[kind] : { label: kind }
  const tone = toneOf(kind)
  return (
    <li className={tone ? `order-event wrap tone-${tone}` : 'order-event wrap'}>
      <div className="row row-between">
        <span>
          <strong>{label}</strong> by <Who is={by} name={byName} for={absent} forName={forName} />
        </span>
        <Place event={event} />
      </div>
      <div>
        <Moment instant={atUtc} timeZone={isReview ? null : atTimeZone} />
      </div>
      {text !== null && (
        <blockquote className="quote">
          <bdi>{text}</bdi>
        </blockquote>
      )}
      {document?.name != null && (
        <p className="wrap">
          <Name of={document.name} />
        </p>
      )}
      {text === null && gone.some((name) => name === 'text' || name === 'documentName') && erased && (
        <p className="soft small">{erased}</p>
      )}
    </li>
  )
}

/** Its number in the log. */
function Place({ event: { sequence, hash } }: { event: OrderEvent }) {
  if (sequence === null) {
    return (
      <span className="soft small" title="It gets its number in the log within two seconds.">
        Being recorded
      </span>
    )
  }
  const number = formatCount(sequence)
  return (
    <span className="soft small" title={`Recorded as log entry #${number}. SHA-256: ${hash}`}>
      <span className="visually-hidden">Log entry </span>#{number}
    </span>
  )
}
