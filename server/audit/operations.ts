import { findEventsOf, findLogLines } from './lines/lines.ts'
import { beginEra } from './sealing/era.ts'
import { sealEvents, sealing } from './sealing/sealing.ts'
import { keepFindings } from './witnesses/store.ts'

export const writes = {
  sealEvents,
  keepFindings,
  beginEra,
}

export const reads = { findLogLines, findEventsOf }

export const jobs = [sealing]
