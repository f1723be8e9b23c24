import { beginEra } from './era.ts'
import { eraseText } from './erase.ts'
import { findEventsOf, findLogLines } from './lines/lines.ts'
import { sealEvents, sealing } from './seal.ts'
import { keepFindings } from './witnesses/store.ts'

export const writes = {
  sealEvents,
  keepFindings,
  eraseText,
  beginEra,
}

export const reads = { findLogLines, findEventsOf }

export const jobs = [sealing]
