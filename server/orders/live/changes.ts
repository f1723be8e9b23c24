import { type Place, spellPlace } from '../../../proof/place.ts'
import { readOn } from '../../audit/audit.ts'
import type { Db } from '../../db/tables.ts'
import { orderStatuses } from '../orders.ts'

/** Changes of orders between two places of the log, as bytes that all listeners share. */
export interface Batch {
  from: Place
  reached: Place
  bytes: Buffer
}

/** A listener that is further behind reads its lists again, which costs less than the events in between. */
const replayLimit = 5_000
/**
 * More than other readers take, because listeners share a batch: 4,000 events reach 2,000 of them in a second
 * or two, and by 100 at a time in ten.
 */
const batchLines = 500

/**
 * The next batch of changes after the place in the log. Far behind and from another era, it is an event
 * `reset` in place of what was missed.
 */
export async function readChanges(db: Db, place: Place): Promise<Batch> {
  const { events, reached, end } = await readOn(db, place, batchLines)
  if (place.era !== end.era || end.sequence - place.sequence > replayLimit) return resetTo(place, end)
  const { era } = end
  const ofOrders = events.filter(({ subject_kind }) => subject_kind === 'order')
  const statuses = await orderStatuses(db, ofOrders)
  const texts = ofOrders.map(({ sequence, subject_id: id, kind, version }, index) =>
    // The syntax of server-sent events (WHATWG HTML §9.2).
    [
      `id: ${spellPlace({ era, sequence })}`,
      `data: ${JSON.stringify({ id, kind, version, status: statuses[index] })}`,
      '\n',
    ].join('\n'),
  )
  return { from: place, reached, bytes: Buffer.from(texts.join('')) }
}

/** Without data a browser would not report the event. */
function resetTo(from: Place, reached: Place): Batch {
  return { from, reached, bytes: Buffer.from(`id: ${spellPlace(reached)}\nevent: reset\ndata: {}\n\n`) }
}
