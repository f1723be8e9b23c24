import { Button } from 'react-aria-components/Button'
import { useMay } from '../../auth/session.ts'
import { formatCount } from '../../ui/format.ts'
import { Moment } from '../../ui/moment.tsx'
import { Name } from '../../ui/name.tsx'
import type { Order, OrderEvent } from '../order.ts'
import { pending, words } from '../states.ts'
import { AddNote } from './add-note.tsx'

interface HistoryProps {
  order: Order | undefined
  /** In the order of the log; undefined while they are on their way. */
  events: readonly OrderEvent[] | undefined
  onMore: (() => void) | undefined
}

/** Who did what to the order, and when: every event of the log, the oldest first, and what is still to come last. */
export function OrderHistory({ order, events, onMore }: HistoryProps) {
  const mayNote = useMay('Orders.Note')
  return (
    <section className="order-history" aria-labelledby="order-history">
      <h2 id="order-history">History</h2>
      <ol>
        {events ? events.map((event) => <Event key={event.id} event={event} />) : <EventsToCome />}
        {events && !onMore && order?.status === pending && (
          <li className="order-event order-event-to-come">
            <strong>Waiting for approval</strong>
          </li>
        )}
      </ol>
      {onMore && (
        <Button className="button button-small" onPress={onMore}>
          Show more
        </Button>
      )}
      {order && mayNote && <AddNote id={order.id} />}
    </section>
  )
}

interface KindWords {
  what: string
  tone?: string
  /** What stands in the place of words that were erased from it; without, it need not have any. */
  erased?: string
}

/** Of the kinds that this version of the app knows. */
const kinds: Record<string, KindWords> = {
  created: { what: 'Created' },
  'approval-given': { what: 'Approval given', tone: words.Approved.tone },
  approved: { what: 'Approved', tone: words.Approved.tone },
  rejected: { what: 'Rejected', tone: words.Rejected.tone, erased: 'The reason was erased.' },
  withdrawn: { what: 'Withdrawn', tone: words.Withdrawn.tone },
  noted: { what: 'Note', erased: 'The note was erased.' },
}

function Event({ event }: { event: OrderEvent }) {
  const { kind, by, text, atUtc, atTimeZone } = event
  const { what, tone, erased }: KindWords = kinds[kind] ?? { what: kind }
  return (
    <li className={tone ? `order-event wrap tone-${tone}` : 'order-event wrap'}>
      <div className="row row-between">
        <span>
          <strong>{what}</strong> by <Name of={by} />
        </span>
        <Place event={event} />
      </div>
      <div>
        <Moment instant={atUtc} timeZone={atTimeZone} />
      </div>
      {text !== null && (
        <blockquote className="quote">
          <bdi>{text}</bdi>
        </blockquote>
      )}
      {text === null && erased && <p className="soft small">{erased}</p>}
    </li>
  )
}

/** Where the log has it. */
function Place({ event: { sequence, hash } }: { event: OrderEvent }) {
  if (sequence === null) {
    return (
      <span className="soft small" title="It gets its place in the log within two seconds.">
        not sealed yet
      </span>
    )
  }
  const number = formatCount(sequence)
  return (
    <span className="soft small" title={`Sealed as number ${number} in the log. SHA-256: ${hash}`}>
      <span className="visually-hidden">Sealed in the log as number </span>
      <span aria-hidden="true">№&nbsp;</span>
      {number}
    </span>
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
