import type { Place } from '../../../proof/place.ts'
import type { Db } from '../../db/tables.ts'
import { findRestores, headOfLog, type SealedEvent, sealedEvents } from './store.ts'

/** The part of the log that a reader gets at once. */
export interface Reading {
  /** After which line it begins: the reader's place, unless a restore set it back. */
  from: Place
  events: SealedEvent[]
  /** The last line that the reader may have had: a restore replaced those behind it. */
  lastLeft: number
  /** The reader's next place. It is at `end` if nothing is left to read. */
  reached: Place
  end: Place
}

/** Few, because a reader may hold the event loop or the writer meanwhile. */
const batchLines = 100

/**
 * The next lines after a reader's place. After a restore the lines behind the last that was left are others,
 * so a reader that had come further goes on from that one.
 */
export async function readOn(db: Db, place: Place, limit = batchLines): Promise<Reading> {
  const end = await endOfLog(db)
  const lastLeft = await lastLeftSince(db, place, end)
  const from = { era: end.era, sequence: Math.min(place.sequence, lastLeft) }
  const last = Math.min(end.sequence, from.sequence + limit)
  const events =
    last > from.sequence ? await sealedEvents(db, { first: from.sequence + 1, last, direction: 'asc' }) : []
  return { from, events, lastLeft, reached: { era: end.era, sequence: last }, end }
}

/** The place of a reader that has read everything. */
export async function endOfLog(db: Db): Promise<Place> {
  const { era, size } = await headOfLog(db)
  return { era, sequence: size }
}

async function lastLeftSince(db: Db, place: Place, end: Place): Promise<number> {
  const next = place.era === end.era ? undefined : (await findRestores(db)).find(({ era }) => era > place.era)
  return next === undefined ? end.sequence : next.sequence - 1
}
