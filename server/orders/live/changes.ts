import { type Place, spellPlace } from '../../../client/src/place.ts'
import { sealedEvents } from '../../audit/audit.ts'
import type { Db } from '../../db/tables.ts'
import { type OrderEventKind, type OrderStatus, statusAfter } from '../order.ts'
import { statusesOf } from '../store.ts'

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
  const unknown = ofOrders.filter(({ kind }) => statusOf(kind) === null)
  const ids = unknown.map(({ subject_id }) => subject_id)
  const now = ids.length === 0 ? undefined : await statusesOf(db, ids)
  const texts = ofOrders.map(({ sequence, subject_id: id, kind, version }) =>
    // The syntax of server-sent events (WHATWG HTML §9.2).
    [
      `id: ${spellPlace({ era, sequence })}`,
      `data: ${JSON.stringify({ id, kind, version, status: statusOf(kind) ?? now?.get(id) })}`,
      '\n',
    ].join('\n'),
  )
  return { from, reached: { era, sequence: last }, bytes: Buffer.from(texts.join('')) }
}

function statusOf(kind: string): OrderStatus | null {
  return statusAfter[kind as OrderEventKind] ?? null
}
