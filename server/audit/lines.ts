import type { Kysely } from '#kysely'
import type { Database } from '../db/tables.ts'
import { lineOf } from './seal.ts'
import {
  countMatches,
  findMatches,
  headOfLog,
  type LogFilter,
  type SealedEvent,
  sealedEvents,
} from './store.ts'

export interface LinesRequest {
  /** Lines of this sequence and before it do not count. */
  after: number
  direction: 'asc' | 'desc'
  /** How many to leave out, in that direction, and how many to take at most. */
  offset: number
  limit: number
  /** Absent: every event. */
  filter?: LogFilter
}

/**
 * A page of the log, each line as the JSON text of the export, and how many lines there are after `after`.
 * Sequences have no gaps: without a filter a page is a range of them, wherever it lies.
 */
export async function findLogLines(
  snapshot: Kysely<Database>,
  { filter, ...request }: LinesRequest,
): Promise<{ lines: string[]; totalCount: number }> {
  const found = await (filter === undefined ? findRange(snapshot, request) : find(snapshot, filter, request))
  return { lines: found.events.map(exportLine), totalCount: found.totalCount }
}

async function find(
  snapshot: Kysely<Database>,
  filter: LogFilter,
  { after, ...page }: LinesRequest,
): Promise<{ events: SealedEvent[]; totalCount: number }> {
  const totalCount = await countMatches(snapshot, after, filter)
  const events = page.offset < totalCount ? await findMatches(snapshot, after, filter, page) : []
  return { events, totalCount }
}

async function findRange(
  snapshot: Kysely<Database>,
  { after, direction, offset, limit }: LinesRequest,
): Promise<{ events: SealedEvent[]; totalCount: number }> {
  const { size } = await headOfLog(snapshot)
  const first = direction === 'asc' ? after + offset + 1 : Math.max(after, size - offset - limit) + 1
  const last = direction === 'asc' ? Math.min(size, after + offset + limit) : size - offset
  const events = first <= last ? await sealedEvents(snapshot, { first, last, direction }) : []
  return { events, totalCount: Math.max(0, size - after) }
}

/** What cannot be said is no JSON, for `log verify` to find; nothing that the service writes is such. */
function exportLine(event: SealedEvent): string {
  const { text_salt: textSalt, text, hash, sequence } = event
  try {
    return JSON.stringify({ ...lineOf(event, sequence), textSalt, text, hash })
  } catch {
    return `event ${sequence} cannot be read`
  }
}
