/**
 * The log of changes: a change and its event are one transaction, and a sealed event never changes except
 * that its text can be erased. docs/auditing.md says what that proves.
 */

export type { Receipt } from './checkpoints/receipt.ts'
export {
  type Event,
  type EventKind,
  eventKinds,
  eventRow,
  newWords,
  recordEvent,
  recordEvents,
  type Words,
} from './events/events.ts'
export { sealedLine } from './events/line.ts'
export { oldestUnsealed } from './events/store.ts'
export { endOfLog, readOn } from './lines/reader.ts'
export {
  countEventsOfKind,
  eventsOfKinds,
  headOfLog,
  latestEventTime,
  type SealedEvent,
  sealedEvents,
} from './lines/store.ts'
export { contradictionOf, refuseContradicted } from './sealing/contradiction.ts'
