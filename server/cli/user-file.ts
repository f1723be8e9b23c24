import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { Refused } from './failures.ts'

/** What a file says of one user; members that it leaves out are undefined. */
export interface WrittenUser {
  name?: unknown
  email?: unknown
  roles?: unknown
  zone?: unknown
  passwordHash?: unknown
}

export const columns = [
  'name',
  'email',
  'roles',
  'zone',
  'passwordHash',
] as const satisfies (keyof WrittenUser)[]

/** A record of the file, by the number of its first line: a user, or the rule that it breaks as a whole. */
export type UserRecord = { line: number } & ({ user: WrittenUser } | { rule: string })

/** Longer than any user. */
const recordLimitBytes = 65_536

/**
 * Reads CSV (RFC 4180, with a line of headings) or JSON Lines: the first byte shows which. Needs memory for
 * one record. Throws `Refused` for a file that is neither.
 */
export async function* readUsers(file: string): AsyncGenerator<UserRecord> {
  const isCsv = firstByteOf(file) !== '{'
  let read = isCsv ? undefined : fromJson
  for await (const { line, bytes } of recordsOf(file, isCsv)) {
    const text = decode(bytes)
    if (read === undefined) {
      read = fromCsv(headings(text ?? '', `${file}:${line}`))
      continue
    }
    const user = text === undefined ? 'must be UTF-8' : read(text)
    yield typeof user === 'string' ? { line, rule: user } : { line, user }
  }
  if (read === undefined) throw new Refused('bad-file', `${file} is empty`)
}

/** The first byte, after the byte-order mark if there is one. */
function firstByteOf(file: string): string {
  const descriptor = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(byteOrderMark.length + 1)
    readSync(descriptor, bytes)
    return withoutBom(bytes).toString('latin1', 0, 1)
  } finally {
    closeSync(descriptor)
  }
}

interface Bytes {
  line: number
  bytes: Buffer
}

const [lineFeed, quote] = [0x0a, 0x22]

/**
 * The records without their line ends; empty lines are left out. In JSON Lines a record is a line; in CSV a
 * line feed between quotes belongs to the record.
 */
async function* recordsOf(file: string, isCsv: boolean): AsyncGenerator<Bytes> {
  let rest: Buffer = Buffer.alloc(0)
  let [line, lines, isQuoted] = [1, 0, false]
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let begin = 0
    let scanned = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, scanned)) {
      if (isCsv && hasOddQuotes(chunk.subarray(scanned, end))) isQuoted = !isQuoted
      scanned = end + 1
      lines += 1
      if (isQuoted) continue
      yield* record(rest, chunk.subarray(begin, end), line)
      rest = Buffer.alloc(0)
      begin = scanned
      line = lines + 1
    }
    if (isCsv && hasOddQuotes(chunk.subarray(scanned))) isQuoted = !isQuoted
    rest = Buffer.concat([rest, chunk.subarray(begin)])
    if (rest.length > recordLimitBytes) throw tooLong(file, line, isQuoted)
  }
  if (isQuoted) throw new Refused('bad-file', `${file}:${line} opens a quote that is not closed`)
  yield* record(rest, Buffer.alloc(0), line)
}

function hasOddQuotes(bytes: Buffer): boolean {
  let isOdd = false
  for (let at = bytes.indexOf(quote); at >= 0; at = bytes.indexOf(quote, at + 1)) isOdd = !isOdd
  return isOdd
}

function* record(rest: Buffer, more: Buffer, line: number): Generator<Bytes> {
  const whole = rest.length === 0 ? more : Buffer.concat([rest, more])
  const bytes = line === 1 ? withoutBom(whole) : whole
  const end = bytes.at(-1) === 0x0d ? bytes.length - 1 : bytes.length
  if (end > 0) yield { line, bytes: bytes.subarray(0, end) }
}

function tooLong(file: string, line: number, isQuoted: boolean): Refused {
  const reason = isQuoted ? 'opens a quote that is not closed' : 'is too long for a user'
  return new Refused('bad-file', `${file}:${line} ${reason} (${recordLimitBytes} bytes)`)
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])
const withoutBom = (bytes: Buffer) => (bytes.indexOf(byteOrderMark) === 0 ? bytes.subarray(3) : bytes)

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

function fromJson(text: string): WrittenUser | string {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be a JSON object'
    const unknown = Object.keys(value).find((name) => !isColumn(name))
    return unknown === undefined ? value : `has the unknown member ${JSON.stringify(unknown)}`
  } catch {
    return 'must be JSON'
  }
}

function isColumn(name: string): name is keyof WrittenUser {
  return (columns as readonly string[]).includes(name)
}

/** The headings of a CSV file, each a column and none twice. */
function headings(text: string, place: string): (keyof WrittenUser)[] {
  const names = cellsOf(text) ?? []
  const unknown = names.find((name) => !isColumn(name))
  if (unknown !== undefined || names.length === 0) {
    const known = columns.join(', ')
    throw new Refused(
      'bad-file',
      `${place} has the unknown heading ${JSON.stringify(unknown ?? '')}; there are ${known}`,
    )
  }
  if (new Set(names).size < names.length) throw new Refused('bad-file', `${place} has a heading twice`)
  return names.filter(isColumn)
}

/** An empty cell counts as left out. Several roles share one cell. */
function fromCsv(names: (keyof WrittenUser)[]): (text: string) => WrittenUser | string {
  return (text) => {
    const cells = cellsOf(text)
    if (cells === undefined)
      return 'must be CSV: a quote stands at the start of a cell and is doubled within it'
    if (cells.length !== names.length) return `must have ${names.length} cells, not ${cells.length}`
    const user: WrittenUser = {}
    for (const [index, name] of names.entries()) {
      const cell = cells[index] ?? ''
      if (cell !== '')
        user[name] = name === 'roles' ? cell.split(/[,; ]+/).filter((role) => role !== '') : cell
    }
    return user
  }
}

const cell = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y

/** Undefined if the text is not a CSV record. */
function cellsOf(text: string): string[] | undefined {
  const cells: string[] = []
  cell.lastIndex = 0
  for (;;) {
    const found = cell.exec(text)
    if (found === null) return undefined
    cells.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '')
    if (found[3] === '') return cells
  }
}
