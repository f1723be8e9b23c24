import { type Head, hashOf, type LogLine, textHashOf, zeroHash } from './chain.ts'

/** The first line that does not fit. */
export interface LogFault {
  sequence: number
  reason: string
}

/** `beyond`: it covers more lines than there are, or than fit. */
type Agreement = 'agrees' | 'disagrees' | 'beyond'

export interface LogReport {
  /** As far as the log fits. */
  head: Head
  fault: LogFault | null
  /** One for each checkpoint, in their order. */
  checkpoints: Agreement[]
}

/**
 * Reads the bytes of an export from the first line on, up to the first that does not fit. Needs memory for
 * one line, and for the numbers of erased texts whose erasure it has not read yet.
 */
export async function verifyLog(
  bytes: AsyncIterable<Uint8Array>,
  checkpoints: readonly Head[] = [],
): Promise<LogReport> {
  const agreements = checkpoints.map(({ size, hash }): Agreement => {
    if (size > 0) return 'beyond'
    return hash === zeroHash ? 'agrees' : 'disagrees'
  })
  const erased = new Set<number>()
  let head: Head = { size: 0, hash: zeroHash }
  const faultAt = (sequence: number, reason: string) => ({
    head,
    fault: { sequence, reason },
    checkpoints: agreements,
  })
  for await (const line of linesOf(bytes)) {
    const sequence = head.size + 1
    const read = readLine(line, head)
    if (typeof read === 'string') return faultAt(sequence, read)
    head = { size: sequence, hash: read.hash }
    for (const [index, checkpoint] of checkpoints.entries()) {
      if (checkpoint.size === sequence)
        agreements[index] = checkpoint.hash === head.hash ? 'agrees' : 'disagrees'
    }
    if (read.textHash !== null && read.text === null) erased.add(sequence)
    if (read.kind === 'text-erased' && read.subject.kind === 'log') erased.delete(Number(read.subject.id))
  }
  const [untold] = erased
  if (untold !== undefined)
    return faultAt(untold, 'its text is gone, and no later event says that it was erased')
  return { head, fault: null, checkpoints: agreements }
}

/** The line, or why it does not fit after `head`. */
function readLine(bytes: Uint8Array, head: Head): LogLine | string {
  try {
    const written = utf8.decode(bytes)
    const line: unknown = JSON.parse(written)
    // One spelling for one event: of two members of one name, readers would see different ones.
    if (JSON.stringify(line) !== written) return 'it is not written as an export writes it'
    const wrong = wrongMember(line)
    if (wrong !== undefined) return `its member ${wrong} is missing or of a wrong type`
    return isLogLine(line) ? (faultOf(line, head) ?? line) : 'it is not an object'
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError) {
      return 'it is not JSON in UTF-8'
    }
    throw error
  }
}

function faultOf({ hash, text, textSalt, ...hashed }: LogLine, head: Head): string | undefined {
  if (hashed.sequence !== head.size + 1) {
    return `the line in its place has the sequence ${hashed.sequence}: one is missing or out of place`
  }
  if (hash !== hashOf(head.hash, hashed))
    return 'its hash is not that of its content after the line before it'
  if (text === null && textSalt === null) return undefined
  const isRight =
    text !== null && textSalt !== null && textHashOf({ text, salt: textSalt }) === hashed.textHash
  return isRight ? undefined : 'its text does not match textHash'
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const isText = (value: unknown) => typeof value === 'string' && value.isWellFormed()
const isCount = (value: unknown) => Number.isSafeInteger(value)
const isHex = (bytes: number) => (value: unknown) =>
  typeof value === 'string' && value.length === 2 * bytes && /^[0-9a-f]*$/.test(value)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const orNull = (fits: (value: unknown) => boolean) => (value: unknown) => value === null || fits(value)

/** Members that are not here may be added later: the hash covers them too. */
const members: Record<keyof LogLine, (value: unknown) => boolean> = {
  sequence: isCount,
  id: isText,
  kind: isText,
  subject: (value) => isObject(value) && isText(value.kind) && isText(value.id),
  version: orNull(isCount),
  atUtc: isText,
  atTimeZone: orNull(isText),
  by: isText,
  byId: orNull(isCount),
  data: isObject,
  textHash: orNull(isHex(32)),
  textSalt: orNull(isHex(16)),
  text: orNull(isText),
  hash: isHex(32),
}

function wrongMember(line: unknown): string | undefined {
  if (!isObject(line)) return undefined
  return Object.entries(members).find(([name, fits]) => !fits(line[name]))?.[0]
}

function isLogLine(line: unknown): line is LogLine {
  return isObject(line) && wrongMember(line) === undefined
}

/** Longer than any line: a text has at most 1,000 code points. What is longer is cut, and no JSON then. */
const lineLimitBytes = 1_048_576

/** The lines without their ends; what follows the last end counts as one if there is any. */
async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array()
  for await (const portion of bytes) {
    let begin = 0
    for (let end = portion.indexOf(lineEnd); end >= 0; end = portion.indexOf(lineEnd, begin)) {
      yield rest.length === 0
        ? portion.subarray(begin, end)
        : Buffer.concat([rest, portion.subarray(begin, end)])
      rest = new Uint8Array()
      begin = end + 1
    }
    rest = Buffer.concat([rest, portion.subarray(begin)])
    if (rest.length > lineLimitBytes) yield rest
  }
  if (rest.length > 0) yield rest
}

const lineEnd = 0x0a
