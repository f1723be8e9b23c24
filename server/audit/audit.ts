/**
 * The log of changes: a change and its event are one transaction, and a sealed event never changes except
 * that names and texts can be erased from it. docs/auditing.md says what that proves.
 */

export {
  type Event,
  type EventKind,
  eventKinds,
  eventRow,
  namesOf,
  recordEvent,
  recordEvents,
  saltedWith,
} from './events/events.ts'
export { printed, sealedLine, toldBy } from './events/line.ts'
export { insertEvent, oldestUnsealed } from './events/store.ts'
export { endOfLog, readOn } from './lines/reader.ts'
export {
  countEventsOfKind,
  type EventOfOrder,
  eventsOfKinds,
  firstActs,
  headOfLog,
  latestEventTime,
  newestOfOrders,
  type SealedEvent,
  type StoredEvent,
  sealedEvents,
  sealedEventsAt,
  sealedEventsOfOrders,
} from './lines/store.ts'
export { contradictionOf, refuseContradicted } from './sealing/contradiction.ts'
export {
  isNameOf,
  type Places,
  partOf,
  recordErasure,
  sealForErasure,
  takeFrom,
} from './sealing/erase.ts'
export { ordersAbout, ordersOfLine, sequencesAbout, sequencesOfOrders } from './sealing/store.ts'
