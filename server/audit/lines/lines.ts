/** The lines of the log, as they are read: in pages, whole, or on from a place. Reading changes nothing. */
import { spellLine } from '../../../proof/line.ts'
import type { Db } from '../../db/tables.ts'
import type { Event } from '../events/events.ts'
import { sealedLine } from '../events/line.ts'
import { unsealedEventsOf } from '../events/store.ts'
import {
  countMatches,
  findMatches,
  headOfLog,
  type LogFilter,
  type SealedEvent,
  type StoredEvent,
  sealedEvents,
} from './store.ts'

interface Page {
  direction: 'asc' | 'desc'
  /** How many to skip in that direction, and how many to take at most. */
  offset: number
  limit: number
}

export interface LinesRequest extends Page {
  /** Only lines with a greater sequence than this match. */
  after: number
  /** If absent, every event matches. */
  filter?: LogFilter
}

/**
 * A page of the log, each line as the JSON text of the export, and how many lines match. Sequences have no
 * gaps, so without a filter a page is a range of them.
 */
export async function findLogLines(
  snapshot: Db,
  { filter, ...request }: LinesRequest,
): Promise<{ lines: string[]; totalCount: number }> {
  const found = await (filter === undefined ? findRange(snapshot, request) : find(snapshot, filter, request))
  return { lines: found.events.map(exportLine), totalCount: found.totalCount }
}

/**
 * A page of the events of a subject, sealed or not, in the order of the log, and how many there are. Events
 * to skip are skipped in the index.
 */
export async function findEventsOf(
  snapshot: Db,
  { subject, direction, offset, limit }: Page & { subject: Event['subject'] },
): Promise<{ events: StoredEvent[]; totalCount: number }> {
  const isForward = direction === 'asc'
  const sealedCount = await countMatches(snapshot, 0, { subject })
  const waiting = (await unsealedEventsOf(snapshot, subject)).map((event) => ({
    ...event,
    sequence: null,
    hash: null,
  }))
  const [before, inTurn] = isForward ? [sealedCount, waiting] : [0, waiting.toReversed()]
  const unsealed = inTurn.slice(Math.max(0, offset - before), Math.max(0, offset + limit - before))
  const sealed = await findMatches(
    snapshot,
    0,
    { subject },
    {
      direction,
      offset: isForward ? offset : Math.max(0, offset - waiting.length),
      limit: limit - unsealed.length,
    },
  )
  const events = isForward ? [...sealed, ...unsealed] : [...unsealed, ...sealed]
  return { events, totalCount: sealedCount + waiting.length }
}

async function find(
  snapshot: Db,
  filter: LogFilter,
  { after, ...page }: LinesRequest,
): Promise<{ events: SealedEvent[]; totalCount: number }> {
  const totalCount = await countMatches(snapshot, after, filter)
  const events = page.offset < totalCount ? await findMatches(snapshot, after, filter, page) : []
  return { events, totalCount }
}

async function findRange(
  snapshot: Db,
  { after, direction, offset, limit }: LinesRequest,
): Promise<{ events: SealedEvent[]; totalCount: number }> {
  const { size } = await headOfLog(snapshot)
  const first = direction === 'asc' ? after + offset + 1 : Math.max(after, size - offset - limit) + 1
  const last = direction === 'asc' ? Math.min(size, after + offset + limit) : size - offset
  const events = first <= last ? await sealedEvents(snapshot, { first, last, direction }) : []
  return { events, totalCount: Math.max(0, size - after) }
}

/** A row that was tampered with may not be JSON: its line says so, and `log verify` finds it. */
function exportLine(event: SealedEvent): string {
  try {
    return spellLine(sealedLine(event))
  } catch {
    return `event ${event.sequence} cannot be read`
  }
}
