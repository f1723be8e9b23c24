import { type Clear, erasedIn, hashOf, type LogLine, type Salted, saltedHashOf, spellLine } from './line.ts'
import { type Head, LogTree } from './log-tree.ts'
import type { Proof } from './note.ts'
import { OrderCheck } from './order.ts'
import { sha256 } from './sha256.ts'

/** The first line that does not fit. */
export interface LogFault {
  sequence: number
  reason: string
}

/**
 * `beyond`: the checkpoint covers more lines than there are, or than are valid. `lost`: it covers lines after
 * the end of its era, which a restore took away.
 */
export type Agreement = 'agrees' | 'disagrees' | 'beyond' | 'lost'

/** The content of a checkpoint. */
export interface SignedHead extends Head {
  era: number
}

/** A line that begins an era, because the database went back to the line before it. */
export interface Restore {
  sequence: number
  era: number
}

export interface LogReport {
  /** The head of the valid part of the log. */
  head: Head
  fault: LogFault | null
  /** One for each checkpoint, in the same order. */
  checkpoints: Agreement[]
  restores: Restore[]
  /** The first value that is gone although no later line says that it was erased. */
  lost: { sequence: number; name: string } | null
  /** Events more than a minute older than the event before them: a clock was wrong, or was set. */
  backInTime: { events: number; first: number[] }
  /** How many decisions a passkey has signed. */
  signed: number
}

const namedBackInTime = 10

/** The clocks of two instances may differ by so much. */
const clockDifferenceMilliseconds = 60_000

/**
 * Verifies the bytes of an export line by line, up to the first line that does not fit. It keeps in memory
 * one line, the passkeys, and the places of erased values whose erasure it has not read yet. `see` gets each
 * line that fits.
 */
export async function verifyLog(
  bytes: AsyncIterable<Uint8Array>,
  checkpoints: readonly SignedHead[] = [],
  see: (line: LogLine) => void = () => undefined,
): Promise<LogReport> {
  const tree = new LogTree()
  const agreements = checkpoints.map(({ size, root }): Agreement => {
    if (size > 0) return 'beyond'
    return root === tree.head.root ? 'agrees' : 'disagrees'
  })
  const orders = new OrderCheck()
  const report: LogReport = {
    head: tree.head,
    fault: null,
    checkpoints: agreements,
    restores: [],
    lost: null,
    backInTime: { events: 0, first: [] },
    signed: 0,
  }
  const missing = new Map<string, { sequence: number; name: string }>()
  let previousHash: string | null = null
  let previousTime = Number.NEGATIVE_INFINITY
  for await (const bytesOfLine of linesOf(bytes)) {
    const sequence = tree.size + 1
    const line = readLine(bytesOfLine, sequence)
    const reason =
      typeof line === 'string' ? line : ((await orders.see(line)) ?? noteRestore(report, line, previousHash))
    if (typeof line === 'string' || reason !== undefined) {
      return { ...report, head: tree.head, fault: { sequence, reason: String(reason) } }
    }
    tree.add(line.hash)
    previousHash = line.hash
    for (const [index, { size, root }] of checkpoints.entries()) {
      if (size === sequence) agreements[index] = root === tree.head.root ? 'agrees' : 'disagrees'
    }
    for (const name of erasedIn(line)) missing.set(`${sequence} ${name}`, { sequence, name })
    for (const place of takenBy(line)) missing.delete(place)
    const time = Date.parse(line.atUtc)
    if (time < previousTime - clockDifferenceMilliseconds) noteBackInTime(report, sequence)
    previousTime = time
    see(line)
  }
  for (const [index, checkpoint] of checkpoints.entries()) {
    if (restoreThatLost(report.restores, checkpoint) !== undefined) agreements[index] = 'lost'
  }
  const [lost = null] = missing.values()
  return { ...report, head: tree.head, lost, signed: orders.signed }
}

/** The places whose values the line says were erased. */
function takenBy({ kind, data }: LogLine): string[] {
  if (kind !== 'erased' || !isObject(data.erased)) return []
  return Object.entries(data.erased).flatMap(([name, sequences]) =>
    Array.isArray(sequences) ? sequences.filter(isCount).map((sequence) => `${sequence} ${name}`) : [],
  )
}

/** The first restore that took away lines that the checkpoint covers. */
export function restoreThatLost(
  restores: readonly Restore[],
  { era, size }: Pick<SignedHead, 'era' | 'size'>,
): Restore | undefined {
  return restores.find((restore) => restore.era > era && restore.sequence <= size)
}

/** The era in the origin of a checkpoint. */
export function eraOf(origin: string): number {
  return Number(/\/log\/(\d{1,9})$/.exec(origin)?.[1] ?? 1)
}

/** Returns what is wrong if the line begins an era but does not fit the line before it. */
function noteRestore(
  { restores }: LogReport,
  line: LogLine,
  previousHash: string | null,
): string | undefined {
  if (line.kind !== 'log-restored' || line.subject.kind !== 'log') return undefined
  const { era, last } = line.data as { era?: unknown; last?: { sequence?: unknown; hash?: unknown } | null }
  const { sequence } = line
  if (last?.sequence !== sequence - 1 || last.hash !== previousHash) {
    return 'it begins an era, but names another last event than the one before it'
  }
  if (!Number.isSafeInteger(era) || Number(era) <= (restores.at(-1)?.era ?? 1)) {
    return 'the era that it begins is not later than the one before'
  }
  restores.push({ sequence, era: Number(era) })
  return undefined
}

function noteBackInTime({ backInTime }: LogReport, sequence: number): void {
  backInTime.events += 1
  if (backInTime.first.length < namedBackInTime) backInTime.first.push(sequence)
}

/** The line, or the reason why it is not the one of this sequence. */
function readLine(bytes: Uint8Array, sequence: number): LogLine | string {
  try {
    const written = utf8.decode(bytes)
    const line: unknown = JSON.parse(written)
    if (!isObject(line)) return 'it is not an object'
    const wrong = wrongMember(line)
    if (wrong !== undefined) return `its member ${wrong} is missing or of a wrong type`
    const typed = line as unknown as LogLine
    const spelled = spellLine(typed)
    if (`${spelled}\r\n` === written) return changedEnds
    if (`${spelled}\n` !== written) return otherSpelling
    return faultOf(typed, sequence) ?? typed
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError) {
      return 'it is not JSON in UTF-8'
    }
    throw error
  }
}

/**
 * The line that a tlog-proof has as its `extra`, without names and texts. Follows no path: see `verifyProof`.
 * Throws an Error if the log cannot have such a line in this place.
 */
export function lineOfProof({ extra, index }: Proof): LogLine {
  try {
    const written = utf8.decode(extra)
    const hashed = JSON.parse(written)
    const line = lineFrom({ ...hashed, clear: allErased(hashed.hashes), hash: sha256('00', written) })
    if (line.sequence === index + 1) return line
  } catch {
    // It is not JSON in UTF-8, or no line.
  }
  throw new Error(`the proof is about something else than line ${index + 1} of a log`)
}

/** A line that is not in an export. Throws an Error if no log can have it. */
export function lineFrom(value: unknown): LogLine {
  if (!isObject(value)) throw new Error('a line must be an object')
  const wrong = wrongMember(value)
  if (wrong !== undefined) throw new Error(`the member ${wrong} of a line is missing or of a wrong type`)
  const line = value as unknown as LogLine
  const fault = faultOf(line, line.sequence)
  if (fault !== undefined) throw new Error(`line ${line.sequence} does not fit: ${fault}`)
  return line
}

const allErased = (hashes: object) =>
  Object.fromEntries(Object.keys(hashes).map((name) => [name, { value: null, salt: null }]))

function faultOf({ hash, clear, ...hashed }: LogLine, sequence: number): string | undefined {
  if (hashed.sequence !== sequence) {
    return `the line in its place has the sequence ${hashed.sequence}: one is missing or out of place`
  }
  if (hash !== hashOf(hashed)) return 'its hash is not that of its content'
  const { hashes } = hashed
  const names = Object.keys(hashes)
  if (names.length !== Object.keys(clear).length) return 'its clear has other names than its hashes'
  const wrong = names.find((name) => !isHashed(clear[name], hashes[name]))
  return wrong === undefined ? undefined : `its clear.${wrong} does not match its hash`
}

const isHashed = (member: Clear | undefined, hash: string | undefined) =>
  member !== undefined && (member.value === null || saltedHashOf(member as Salted) === hash)

const otherSpelling = 'it is not written as an export writes it, down to the line feed at its end'

const changedEnds =
  'a mail program or an editor has changed its line ends (CR LF). Get the original again, in an archive'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const isText = (value: unknown) => typeof value === 'string' && value.isWellFormed()
const isCount = (value: unknown) => Number.isSafeInteger(value)
const isInstant = (value: unknown) => {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString() === value
}
const isSalted = (value: unknown) =>
  isObject(value) &&
  Object.keys(value).length === 2 &&
  (value.value === null ? value.salt === null : isText(value.value) && isHex(16)(value.salt))
const isHex = (bytes: number) => (value: unknown) =>
  typeof value === 'string' && value.length === 2 * bytes && /^[0-9a-f]*$/.test(value)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const orNull = (fits: (value: unknown) => boolean) => (value: unknown) => value === null || fits(value)

/** Those that every line has. A later release may add others, which the hash of the line covers too. */
const members: Record<keyof LogLine, (value: unknown) => boolean> = {
  sequence: isCount,
  id: isText,
  kind: isText,
  subject: (value) => isObject(value) && isText(value.kind) && isText(value.id),
  version: orNull(isCount),
  atUtc: isInstant,
  atTimeZone: orNull(isText),
  byId: orNull(isCount),
  forId: orNull(isCount),
  data: isObject,
  hashes: (value) => isObject(value) && Object.values(value).every(isHex(32)),
  clear: (value) => isObject(value) && Object.values(value).every(isSalted),
  hash: isHex(32),
}

function wrongMember(line: Record<string, unknown>): string | undefined {
  return Object.entries(members).find(([name, fits]) => !fits(line[name]))?.[0]
}

/** Longer than any line. A longer line is cut, and is no JSON then. */
const lineLimitBytes = 1_048_576

/** The lines with their line feeds; what follows the last one counts as a line if there is anything. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array()
  for await (const portion of bytes) {
    let begin = 0
    for (let end = portion.indexOf(lineEnd); end >= 0; end = portion.indexOf(lineEnd, begin)) {
      yield joined(rest, portion.subarray(begin, end + 1))
      rest = new Uint8Array()
      begin = end + 1
    }
    rest = joined(rest, portion.subarray(begin))
    if (rest.length > lineLimitBytes) yield rest
  }
  if (rest.length > 0) yield rest
}

const lineEnd = 0x0a

function joined(rest: Uint8Array, more: Uint8Array): Uint8Array {
  if (rest.length === 0) return more
  const whole = new Uint8Array(rest.length + more.length)
  whole.set(rest)
  whole.set(more, rest.length)
  return whole
}
