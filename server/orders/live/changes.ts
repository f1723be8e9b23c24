import { type Place, spellPlace } from '../../../proof/place.ts'
import { sealedEvents } from '../../audit/audit.ts'
import type { Db } from '../../db/tables.ts'
import { orderStatuses } from '../orders.ts'

/** What happened to orders between two places of the log, as bytes that every listener shares. */
export interface Batch {
  from: Place
  reached: Place
  bytes: Buffer
}

const batchSize = 500

/** What happened after the place in the log, up to the sequence `end` or for one batch. */
export async function readBatch(db: Db, from: Place, end: number): Promise<Batch> {
  const { era } = from
  const last = Math.min(end, from.sequence + batchSize)
  const events = await sealedEvents(db, { first: from.sequence + 1, last, direction: 'asc' })
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
  return { from, reached: { era, sequence: last }, bytes: Buffer.from(texts.join('')) }
}
