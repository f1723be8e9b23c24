/**
 * The one spelling of a JSON value (RFC 8785): members sorted by UTF-16 code units, no blanks, numbers and
 * texts as ECMAScript prints them. Throws `TypeError` for what I-JSON (RFC 7493) cannot say: a lone
 * surrogate, NaN, an infinity, undefined, and objects that are more than their members (a Date).
 */
export function canonicalJson(value: unknown): string {
  return isSorted(value) ? JSON.stringify(value) : spell(value)
}

/**
 * Whether it is all I-JSON with sorted members, which JSON.stringify spells canonically: looking first takes
 * a third of the time of sorting.
 */
function isSorted(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value === 'boolean' || value === null || Number.isFinite(value)) return true
  if (Array.isArray(value)) return Array.from(value).every(isSorted)
  if (!isPlainObject(value)) return false
  let last = ''
  for (const name of Object.keys(value)) {
    if (name < last || !name.isWellFormed() || !isSorted(value[name])) return false
    last = name
  }
  return true
}

function spell(value: unknown): string {
  if (typeof value === 'string') return canonicalText(value)
  if (typeof value === 'boolean' || value === null || Number.isFinite(value)) return `${value}`
  if (Array.isArray(value)) return `[${Array.from(value, spell).join(',')}]`
  if (!isPlainObject(value)) throw new TypeError('a value that JSON does not have')
  let members = ''
  for (const name of Object.keys(value).sort()) {
    members += `${members && ','}${canonicalText(name)}:${spell(value[name])}`
  }
  return `{${members}}`
}

function canonicalText(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('a text with a lone surrogate')
  return JSON.stringify(text)
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
