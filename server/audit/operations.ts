import type { Job } from '../upkeep.ts'
import { findEventsOf, findLogLines } from './lines/lines.ts'
import { beginEra } from './sealing/era.ts'
import { sealEvents } from './sealing/sealing.ts'
import { keepFindings } from './witnesses/store.ts'

export const writes = {
  sealEvents,
  keepFindings,
  beginEra,
}

export const reads = { findLogLines, findEventsOf }

/**
 * The contract allows two seconds. Batches follow each other until nothing is left. At the full rate of
 * creates, events are sealed half a second late on SQLite and 0.7 s on PostgreSQL (docs/performance.md). A
 * batch takes 2 ms of SQLite's writer; in a larger one, more events would share the pages of each index.
 * Thanks to the pause it shares a commit with creates, which lowers the cost of a create from 256 µs of
 * processor time to 216.
 */
const sealing: Job = {
  name: 'sealEvents',
  everyMilliseconds: 500,
  batch: 150,
  pauseMilliseconds: 10,
  run: sealEvents,
  failure: 'the log of events could not be sealed; trying again every half second',
}

export const jobs = [sealing]
