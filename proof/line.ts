import { canonicalJson } from './canonical.ts'
import { sha256 } from './sha256.ts'

/** A sealed event: a line of the export. */
export interface LogLine {
  /** From 1, without gaps. */
  sequence: number
  id: string
  kind: string
  subject: { kind: string; id: string }
  version: number | null
  /** RFC 3339 in UTC with `Z` and milliseconds. */
  atUtc: string
  atTimeZone: string | null
  by: string
  byId: number | null
  /** The absent person in whose place it was done. */
  for: string | null
  forId: number | null
  /** Depends on the kind. */
  data: Record<string, unknown>
  /** SHA-256 of the salt and the text, hex; null if nothing was written. */
  textHash: string | null
  textSalt: string | null
  /** Null if nothing was written, or if it was erased. */
  text: string | null
  /** The leaf of the line, hex. */
  hash: string
}

/**
 * The members of a line that its hash covers. It covers only the salted hash of a text, so that the text can
 * be erased.
 */
export type HashedLine = Omit<LogLine, 'hash' | 'text' | 'textSalt'>

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
