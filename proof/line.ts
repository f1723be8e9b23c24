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
  byId: number | null
  /** The absent person in whose place it was done. */
  forId: number | null
  /** Ids, numbers, codes, keys and hashes, by kind. */
  data: Record<string, unknown>
  /** By the names of `clear`: hex SHA-256 of the salt and the value. They stay when a value is erased. */
  hashes: Record<string, string>
  /** What people and customers are called, and what people wrote: `by`, `customer`, `text` and so on. */
  clear: Record<string, Clear>
  /** The leaf of the line, hex. */
  hash: string
}

/** A value that can be erased. Without the salt, nobody can guess it from its hash. */
export interface Salted {
  value: string
  /** 16 random bytes, hex. */
  salt: string
}

/** Both are null once the value was erased. */
export interface Clear {
  value: string | null
  salt: string | null
}

export const erased: Clear = { salt: null, value: null }

/** The members of a line that its hash covers: of what can be erased, the salted hashes alone. */
export type HashedLine = Omit<LogLine, 'hash' | 'clear'>

/**
 * The only spelling of a line in an export, without the line feed at its end. A second one could hide
 * something. Members that a later release adds come after the others, by name.
 */
export function spellLine(line: LogLine): string {
  const { sequence, id, kind, subject, version, atUtc, atTimeZone, byId, forId, ...others } = line
  const { data, hashes, clear, hash, ...later } = JSON.parse(canonicalJson(others))
  const about = { sequence, id, kind, subject: { kind: subject.kind, id: subject.id } }
  const when = { version, atUtc, atTimeZone, byId, forId }
  return JSON.stringify({ ...about, ...when, data, hashes, clear, hash, ...later })
}

/** The leaf of a line: hex SHA-256 of the byte 0x00 and the canonical JSON of the line (RFC 8785). */
export function hashOf(line: HashedLine): string {
  return sha256('00', canonicalJson(line))
}

/** Hex SHA-256 of the salt's bytes followed by the value in UTF-8. */
export function saltedHashOf({ value, salt }: Salted): string {
  return sha256(salt, value)
}

export const hashesOf = (values: Record<string, Salted>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, saltedHashOf(value)]))

/** The value under a name; null if the line has none, or if it was erased. */
export function valueIn({ clear }: Pick<LogLine, 'clear'>, name: string): string | null {
  return (Object.hasOwn(clear, name) ? clear[name]?.value : null) ?? null
}

/** The names of what was erased, sorted. */
export function erasedIn({ clear }: Pick<LogLine, 'clear'>): string[] {
  const names = Object.keys(clear).filter((name) => clear[name]?.value === null)
  return names.sort()
}

/** The name of an account whose name was erased. Nobody can choose such a user name. */
export const nameOfErased = (id: number) => `person-${id}`

/** An account, or a command line, where names are not at hand. */
export const accountIn = (id: number | null) => (id === null ? 'a command' : `account ${id}`)

/** The names of the caller and of the absent person. A command line whose name was erased is `machine:`. */
export function namesIn(line: Pick<LogLine, 'clear' | 'byId' | 'forId'>): { by: string; for: string | null } {
  const { byId, forId } = line
  const by = valueIn(line, 'by') ?? (byId === null ? 'machine:' : nameOfErased(byId))
  return { by, for: valueIn(line, 'for') ?? (forId === null ? null : nameOfErased(forId)) }
}
