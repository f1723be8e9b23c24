import { sha256 } from '#sha256'
import { canonicalJson } from '../../client/src/canonical.ts'
import type { components } from '../../client/src/schema.ts'
import { formatInstant } from '../clock.ts'
import type { EventColumns } from '../db/tables.ts'

/** A sealed event: a line of the export, as the description of the service has it. */
export type LogLine = components['schemas']['LogEvent']

/**
 * What the hash of a line covers. It covers only the salted hash of a text, so that the text can be erased.
 */
export type HashedLine = Omit<LogLine, 'hash' | 'text' | 'textSalt'>

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

/**
 * The only spelling of a line in an export, without the line feed at its end. A second one could hide
 * something. The members of the line keep the order that `sealedLine` gives them.
 */
export function spellLine(line: LogLine): string {
  const { kind, id } = line.subject
  return JSON.stringify({ ...line, subject: { kind, id }, data: JSON.parse(canonicalJson(line.data)) })
}

/** The leaf of a line: hex SHA-256 of the byte 0x00 and the canonical JSON of the line (RFC 8785). */
export function hashOf(line: HashedLine): string {
  return sha256('00', canonicalJson(line))
}

/**
 * Hex SHA-256 of the salt's bytes followed by the text in UTF-8. Without the salt, nobody can guess the text
 * from its hash.
 */
export function textHashOf({ text, salt }: { text: string; salt: string }): string {
  return sha256(salt, text)
}
