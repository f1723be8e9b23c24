import { createHash, createPrivateKey, generateKeyPairSync } from 'node:crypto'
import type { HashedLine, LogLine, Salted } from '../../proof/line.ts'
import type { Head } from '../../proof/log-tree.ts'
import { eventRow } from '../../server/audit/audit.ts'
import { type LogKeys, originOf, signCheckpoint } from '../../server/audit/checkpoints/checkpoints.ts'
import { type SigningKeys, signingKeysOf } from '../../server/auth/credentials/tokens/keys.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { newOrderedId, newSalt } from '../../server/ids.ts'
import { withRawDatabase } from './database.ts'
import { publicUrl, type Service } from './service.ts'
import { keyPems } from './signing-key.ts'

/** The members of a log line that do not follow from others. */
export type LogContent = Omit<LogLine, 'sequence' | 'hashes' | 'hash'>

/** Each value with the same salt. */
export function saltedTexts(values: Record<string, string>): Record<string, Salted> {
  const salt = '000102030405060708090a0b0c0d0e0f'
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { salt, value }]))
}

export const orderEvent: LogContent = {
  id: '019a0000-0000-7000-8000-000000000001',
  kind: 'noted',
  subject: { kind: 'order', id: '019a0000-0000-7000-8000-000000000000' },
  version: 1,
  atUtc: '2026-11-22T12:00:00.000Z',
  atTimeZone: 'Europe/Berlin',
  byId: 3,
  forId: null,
  data: { total: '12.5' },
  clear: saltedTexts({ by: 'jo', customer: 'Acme', text: 'Delivered late.\nAgreed by phone.' }),
}

/** The same without a text. */
export const plainEvent: LogContent = { ...orderEvent, clear: saltedTexts({ by: 'jo', customer: 'Acme' }) }

/** The content of a line that calls somebody or something otherwise. */
export const renamed = <Line extends Pick<LogLine, 'clear'>>(line: Line, values: Record<string, string>) => ({
  ...line,
  clear: { ...line.clear, ...saltedTexts(values) },
})

/** The line after something in it was erased. */
export const withoutValue = <Line extends Pick<LogLine, 'clear'>>(line: Line, name: string) => ({
  ...line,
  clear: { ...line.clear, [name]: { salt: null, value: null } },
})

/**
 * A log, or its lines from `first` on, made as the contract says, without the service's code, as an
 * independent witness.
 */
export function makeLog(contents: readonly LogContent[], first = 1): LogLine[] {
  return contents.map(({ clear, ...content }, index) => {
    const salted = Object.entries(clear).map(([name, { value, salt }]) => {
      const hashed = createHash('sha256').update(Buffer.from(salt ?? '', 'hex'))
      return [name, hashed.update(value ?? '', 'utf8').digest('hex')]
    })
    const hashed = inOrder({ ...content, sequence: first + index, hashes: Object.fromEntries(salted) })
    const hash = sha256(Buffer.of(0), Buffer.from(sortedJson(hashed)))
    return { ...hashed, clear: JSON.parse(sortedJson(clear)), hash }
  })
}

/** The members in the order of an export. */
function inOrder({ data, hashes, ...line }: HashedLine): HashedLine {
  const { sequence, id, kind, subject, version, atUtc, atTimeZone, byId, forId } = line
  const [dataSorted, hashesSorted] = [data, hashes].map((part) => JSON.parse(sortedJson(part)))
  const before = { sequence, id, kind, subject, version, atUtc, atTimeZone, byId, forId }
  return { ...before, data: dataSorted, hashes: hashesSorted }
}

const sha256 = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest('hex')

/** The root over lines, by the recursion of RFC 9162 §2.1.1. */
export const rootOfLines = (lines: Pick<LogLine, 'hash'>[]) => rootsOf(lines)(0, lines.length)

/** The root over any range of the lines. It hashes a node once, however many ranges have it. */
export function rootsOf(lines: Pick<LogLine, 'hash'>[]): (begin: number, end: number) => string {
  const known = new Map<string, string>()
  function root(begin: number, end: number): string {
    if (end - begin <= 1) return lines.slice(begin, end)[0]?.hash ?? sha256()
    const name = `${begin} ${end}`
    const middle = begin + 2 ** (Math.ceil(Math.log2(end - begin)) - 1)
    const parts = () => [root(begin, middle), root(middle, end)].map((part) => Buffer.from(part, 'hex'))
    const hash = known.get(name) ?? sha256(Buffer.of(1), ...parts())
    known.set(name, hash)
    return hash
  }
  return root
}

export function headOf(lines: Pick<LogLine, 'hash'>[]): Head {
  return { size: lines.length, root: rootOfLines(lines) }
}

/** Sorts members by name, for names of the letters that the log uses. */
function sortedJson(value: object): string {
  return JSON.stringify(value, (_, member) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

/** The bytes of an export. */
export const exportOf = (lines: LogLine[]) =>
  Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))

export async function* inPortions(bytes: Buffer, length = 65_536): AsyncGenerator<Buffer> {
  for (let begin = 0; begin < bytes.length; begin += length) yield bytes.subarray(begin, begin + length)
}

/** A checkpoint of the first era, by the keys of the tests unless others are given. */
export const checkpointOver = (head: Head, keys: LogKeys = testLogKeys()) =>
  signCheckpoint(keys, originOf(publicUrl, 1), head)

export const testLogKeys = (): LogKeys => [createPrivateKey(keyPems().log)]

export const makeSigningKeys = (algorithm: SigningKeys['algorithm'] = 'RS256'): Promise<SigningKeys> =>
  signingKeysOf([generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey], algorithm)

/** Seals every waiting event. */
export async function seal(db: Pick<AppDatabase, 'write'>): Promise<void> {
  let batches = 0
  while ((await db.write('sealEvents', { limit: 1_000 })) > 0) {
    batches += 1
    if (batches > 1_000) throw new Error('events go on waiting after they were sealed')
  }
}

/** Inserts sealed events of orders that do not exist, each with a text of some 4 KB. */
export async function addEvents(
  service: Pick<Service, 'db' | 'databaseUrl'>,
  count: number,
  emojis = 960,
): Promise<void> {
  await addWaitingEvents(service, count, emojis)
  await seal(service.db)
}

/** Such events before they are sealed. */
export async function addWaitingEvents(
  { databaseUrl }: Pick<Service, 'databaseUrl'>,
  count: number,
  emojis = 0,
): Promise<void> {
  const now = 1_795_000_000_000
  const { data, byId, atTimeZone: timeZone } = orderEvent
  const events = Array.from({ length: count }, (_, index) => {
    const stamp = {
      eventId: newOrderedId(now),
      seed: newSalt(),
      nowMilliseconds: now,
      timeZone,
      by: 'jo',
      byId,
    }
    const text = `Note ${index}:\u2028"déjà vu" ${'\u{1f600}'.repeat(emojis)}`
    const subject = { kind: 'order', id: newOrderedId(now) } as const
    return eventRow(stamp, { kind: 'noted', subject, version: 1, facts: { ...data, customer: 'Acme', text } })
  })
  await withRawDatabase(databaseUrl, async (raw) => {
    for (let done = 0; done < count; done += 1_000) {
      await raw
        .insertInto('unsealed_events')
        .values(events.slice(done, done + 1_000))
        .execute()
    }
  })
}
