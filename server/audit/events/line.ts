import type { HashedLine, LogLine } from '../../../proof/line.ts'
import { formatInstant } from '../../clock.ts'
import type { EventColumns } from '../../db/tables.ts'

/** The part of an event's line that its hash covers. */
export function lineOf(event: EventColumns, sequence: number): HashedLine {
  return {
    sequence,
    id: event.id,
    kind: event.kind,
    subject: { kind: event.subject_kind, id: event.subject_id },
    version: event.version,
    atUtc: formatInstant(event.at),
    atTimeZone: event.at_time_zone,
    by: event.by_name,
    byId: event.by_id,
    for: event.for_name,
    forId: event.for_id,
    data: JSON.parse(event.data),
    textHash: event.text_hash,
  }
}

export function sealedLine(event: EventColumns & { sequence: number; hash: string }): LogLine {
  const { text_salt: textSalt, text, hash, sequence } = event
  return { ...lineOf(event, sequence), textSalt, text, hash }
}
