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
  /** Only lines after this sequence count. */
  after: number
  direction: 'asc' | 'desc'
  /** How many lines to skip in that direction, and how many to take at most. */
  offset: number
  limit: number
  /** Every event if absent. */
  filter?: LogFilter
}

/**
 * A page of the log, each line as the JSON text of the export, and how many lines match. Sequences have no
 * gaps, so without a filter a page is a range of them.
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

/** A row that was tampered with may not be JSON: its line says so, and `log verify` finds it. */
function exportLine(event: SealedEvent): string {
  const { text_salt: textSalt, text, hash, sequence } = event
  try {
    return JSON.stringify({ ...lineOf(event, sequence), textSalt, text, hash })
  } catch {
    return `event ${sequence} cannot be read`
  }
}
