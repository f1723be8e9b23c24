const uuidHexDigits = 32
const uuidLength = 36
const shortestSearchHexDigits = 4
/** How many hex digits come before each dash of a uuid. */
const dashesAfterHexDigits = [8, 12, 16, 20]

/** The ids of a range, both ends included; as uuids and as lower-case texts they sort alike. */
export type IdRange = { low: string; high: string }

/**
 * The ids that a bare value can begin: 4 hex digits or more, with or without each dash of a uuid. `null` if
 * the value begins no id. `text` is folded.
 */
export function idsBySearch(text: string): IdRange | null {
  let hex = ''
  let previous = ''
  for (const character of text) {
    if (/[0-9a-f]/.test(character) && hex.length < uuidHexDigits) hex += character
    else if (character !== '-' || previous === '-' || !dashesAfterHexDigits.includes(hex.length)) return null
    previous = character
  }
  return hex.length >= shortestSearchHexDigits ? idRange(hex) : null
}

/**
 * The ids that equal or begin with this folded text; `null` if no uuid does. A range, because PostgreSQL
 * compares a uuid with no other text, and LIKE does not use the index of the key.
 */
export function idsByText(text: string, isPrefix: boolean): IdRange | null {
  if (!isPrefix && text.length < uuidLength) return null
  const hex = text.replaceAll('-', '')
  if (!/^[0-9a-f]{0,32}$/.test(hex)) return null
  const range = idRange(hex)
  return range.low.startsWith(text) ? range : null
}

const wholeId = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** A whole id in the form that is stored; `null` for any other text. */
export function readId(text: string): string | null {
  return wholeId.test(text) ? text.toLowerCase() : null
}

const instantHexDigits = 12
const lastInstant = 2 ** 48 - 1

/** The least id that an order created at this instant, in milliseconds since 1970, or later can have. */
export function firstIdFrom(milliseconds: number): string {
  if (milliseconds > lastInstant) return uuid('f'.repeat(uuidHexDigits))
  const instant = Math.max(0, milliseconds).toString(16).padStart(instantHexDigits, '0')
  return uuid(instant.padEnd(uuidHexDigits, '0'))
}

function idRange(hex: string): IdRange {
  return { low: uuid(hex.padEnd(uuidHexDigits, '0')), high: uuid(hex.padEnd(uuidHexDigits, 'f')) }
}

function uuid(hex: string): string {
  const starts = [0, ...dashesAfterHexDigits]
  return starts.map((start, index) => hex.slice(start, starts[index + 1])).join('-')
}
