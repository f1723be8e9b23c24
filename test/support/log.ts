import { createHash, generateKeyPairSync } from 'node:crypto'
import { eventRow } from '../../server/audit/audit.ts'
import type { LogLine } from '../../server/audit/chain.ts'
import { type SigningKeys, signingKeysOf } from '../../server/auth/credentials/tokens/keys.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { newOrderedId, newSalt } from '../../server/ids.ts'
import { withRawDatabase } from './database.ts'
import type { Service } from './service.ts'

/** What a line of a log says that does not follow from other members. */
export type LogContent = Omit<LogLine, 'sequence' | 'textHash' | 'hash'>

export const orderEvent: LogContent = {
  id: '019a0000-0000-7000-8000-000000000001',
  kind: 'noted',
  subject: { kind: 'order', id: '019a0000-0000-7000-8000-000000000000' },
  version: 1,
  atUtc: '2026-11-22T12:00:00.000Z',
  atTimeZone: 'Europe/Berlin',
  by: 'jo',
  byId: 3,
  data: { customer: 'Acme', total: '12.5' },
  textSalt: '000102030405060708090a0b0c0d0e0f',
  text: 'Delivered late.\nAgreed by phone.',
}

/** A log made by the words of the contract, without the service's code: its witness. */
export function makeLog(contents: LogContent[]): LogLine[] {
  let previous = Buffer.alloc(32)
  return contents.map(({ textSalt, text, ...content }, index) => {
    const textHash =
      text === null || textSalt === null
        ? null
        : createHash('sha256').update(Buffer.from(textSalt, 'hex')).update(text, 'utf8').digest('hex')
    const hashed = { ...content, sequence: index + 1, textHash }
    previous = createHash('sha256').update(previous).update(sortedJson(hashed), 'utf8').digest()
    return { ...hashed, textSalt, text, hash: previous.toString('hex') }
  })
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

export const makeSigningKeys = (algorithm: SigningKeys['algorithm'] = 'RS256'): Promise<SigningKeys> =>
  signingKeysOf([generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey], algorithm)

/** Seals every waiting event. */
export async function seal(db: Pick<AppDatabase, 'write'>): Promise<void> {
  while ((await db.write('sealEvents', { limit: 1_000 })) > 0);
}

/** Sealed events of orders that no table of orders has, each with a text of some 4 KB. */
export async function addEvents(
  { db, databaseUrl }: Pick<Service, 'db' | 'databaseUrl'>,
  count: number,
): Promise<void> {
  const now = 1_795_000_000_000
  const { data, by, byId, atTimeZone: timeZone } = orderEvent
  const events = Array.from({ length: count }, (_, index) => {
    const stamp = { eventId: newOrderedId(now), nowMilliseconds: now, timeZone, by, byId }
    const words = { text: `Note ${index}:\u2028"déjà vu" ${'\u{1f600}'.repeat(960)}`, salt: newSalt() }
    const subject = { kind: 'order', id: newOrderedId(now) } as const
    return eventRow(stamp, { kind: 'noted', subject, version: 1, data: { ...data }, words })
  })
  await withRawDatabase(databaseUrl, async (raw) => {
    for (let done = 0; done < count; done += 1_000) {
      await raw
        .insertInto('unsealed_events')
        .values(events.slice(done, done + 1_000))
        .execute()
    }
  })
  await seal(db)
}
