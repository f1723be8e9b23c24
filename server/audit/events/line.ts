import { type HashedLine, type LogLine, namesIn, valueIn } from '../../../proof/line.ts'
import { formatInstant } from '../../clock.ts'
import type { EventColumns } from '../../db/tables.ts'

/** The part of an event's line that its hash covers. Sorted members are spelled in a third of the time. */
export function lineOf(event: Omit<EventColumns, 'clear'>, sequence: number): HashedLine {
  return {
    atTimeZone: event.at_time_zone,
    atUtc: formatInstant(event.at),
    byId: event.by_id,
    data: JSON.parse(event.data),
    forId: event.for_id,
    hashes: JSON.parse(event.hashes),
    id: event.id,
    kind: event.kind,
    sequence,
    subject: { id: event.subject_id, kind: event.subject_kind },
    version: event.version,
  }
}

export function sealedLine(event: EventColumns & { sequence: number; hash: string }): LogLine {
  const { clear, hash, sequence } = event
  return { ...lineOf(event, sequence), clear: JSON.parse(clear), hash }
}

/** The names and the text of an event, for people. An erased name is `person-` and a number. */
export interface Told {
  by: string
  byName: string | null
  for: string | null
  forName: string | null
  text: string | null
  clear: LogLine['clear']
}

/** `Ann Lee (ann)`, or the name alone. */
export const printed = (name: string, fullName: string | null | undefined) =>
  fullName ? `${fullName} (${name})` : name

export function toldBy(event: Pick<EventColumns, 'clear' | 'by_id' | 'for_id'>): Told {
  const line = { clear: JSON.parse(event.clear), byId: event.by_id, forId: event.for_id }
  return {
    ...namesIn(line),
    byName: valueIn(line, 'byName'),
    forName: valueIn(line, 'forName'),
    text: valueIn(line, 'text'),
    clear: line.clear,
  }
}
