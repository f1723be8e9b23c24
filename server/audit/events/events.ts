/** Events: each change writes one in its transaction, where it waits to be sealed. */
import { hash } from 'node:crypto'
import { canonicalJson } from '../../../proof/canonical.ts'
import type { Salted } from '../../../proof/line.ts'
import type { Stamp } from '../../caller/stamp.ts'
import type { EventColumns, Trx } from '../../db/tables.ts'
import { insertEvent, insertEvents } from './store.ts'

/**
 * The members of `clear`: what people and customers are called, and what people wrote. All other facts of an
 * event are in `data`. docs/auditing.md says which kind has which.
 */
export const clearMembers = [
  'by',
  'byName',
  'for',
  'forName',
  'customer',
  'name',
  'formerName',
  'printedName',
  'displayName',
  'owner',
  'deputy',
  'passkeyName',
  'companySubject',
  'passwordSetBy',
  'text',
  'documentName',
] as const

/**
 * Every kind of event, by the kind of its subject. docs/auditing.md says when each happens and what it holds.
 */
export const eventKinds = {
  order: [
    'created',
    'approval-given',
    'approved',
    'rejected',
    'withdrawn',
    'noted',
    'document-added',
    'document-removed',
    'document-erased',
  ],
  account: [
    'user-added',
    'user-changed',
    'client-added',
    'client-changed',
    'enabled',
    'disabled',
    'roles-granted',
    'roles-revoked',
    'password-set',
    'password-changed',
    'link-made',
    'link-used',
    'sign-in-ended',
    'others-signed-out',
    'signed-out',
    'everybody-signed-out',
    'secret-rotated',
    'secrets-dropped',
    'absence-set',
    'absence-ended',
    'passkey-added',
    'passkey-renamed',
    'passkey-removed',
    'password-removed',
    'company-linked',
    'company-unlinked',
  ],
  role: ['role-added', 'role-removed', 'permissions-allowed', 'permissions-denied', 'permissions-set'],
  policy: ['policy-set'],
  webhook: [
    'webhook-added',
    'webhook-changed',
    'webhook-removed',
    'webhook-disabled',
    'webhook-secret-rotated',
    'webhook-replayed',
  ],
  log: ['erased', 'log-restored'],
} as const

export type SubjectKind = keyof typeof eventKinds
export type EventKind<Subject extends SubjectKind = SubjectKind> = (typeof eventKinds)[Subject][number]

/** An event and its subject. Each subject has its own kinds of events. */
export type Event = { [Kind in SubjectKind]: EventOf<Kind> }[SubjectKind]

interface EventOf<Kind extends SubjectKind> {
  kind: EventKind<Kind>
  subject: { kind: Kind; id: string }
  /** The version of the order or policy after the change. */
  version?: number
  /** Texts under the names of `clearMembers` become part of `clear`, everything else of `data`. */
  facts: Record<string, unknown>
  /** By the names of `clear`: salts that a signed statement has already. */
  salts?: Record<string, string>
}

const clearNames: ReadonlySet<string> = new Set(clearMembers)

export function eventRow(stamp: Stamp, { kind, subject, version, facts, salts = {} }: Event): EventColumns {
  const data: Record<string, unknown> = {}
  const texts: Record<string, string> = {}
  const all: Record<string, unknown> = { ...facts, ...namesOf(stamp) }
  for (const name in all) {
    const value = all[name]
    if (typeof value === 'string' && clearNames.has(name)) texts[name] = value
    else data[name] = value
  }
  if (stamp.isService && subject.kind === 'order') data.program = true
  const { clear, hashes } = saltedWith(stamp.seed, texts, salts)
  return {
    id: stamp.eventId,
    kind,
    subject_kind: subject.kind,
    subject_id: subject.id,
    version: version ?? null,
    at: stamp.nowMilliseconds,
    at_time_zone: stamp.timeZone,
    by_id: stamp.byId,
    for_id: stamp.for?.id ?? null,
    data: canonicalJson(data),
    hashes: JSON.stringify(hashes),
    clear: JSON.stringify(clear),
  }
}

/** The names in `clear` of the caller, and of the absent person in whose place they act. */
export function namesOf({ by, byName, for: absent }: Pick<Stamp, 'by' | 'byName' | 'for'>) {
  return {
    by,
    ...(byName && { byName }),
    ...(absent && { for: absent.name, ...(absent.fullName && { forName: absent.fullName }) }),
  }
}

/**
 * Each value with its salt: the given one, or one that only the seed leads to. `hashes` has `saltedHashOf`
 * each, by node:crypto. Members are sorted, so that JSON.stringify spells them canonically, at a third of the
 * time of `canonicalJson`. Throws `TypeError` for a text with a lone surrogate, which UTF-8 does not have.
 */
export function saltedWith(seed: string, values: Record<string, string>, salts: Record<string, string> = {}) {
  const clear: Record<string, Salted> = {}
  const hashes: Record<string, string> = {}
  let made = ''
  for (const [index, name] of Object.keys(values).sort().entries()) {
    const value = String(values[name])
    if (!value.isWellFormed()) throw new TypeError('a text with a lone surrogate')
    if (index % saltsOfHash === 0) made = hash('sha512', `${seed} ${index}`)
    const at = (index % saltsOfHash) * saltCharacters
    const salt = salts[name] ?? made.slice(at, at + saltCharacters)
    clear[name] = { salt, value }
    hashes[name] = hash('sha256', Buffer.concat([Buffer.from(salt, 'hex'), Buffer.from(value)]))
  }
  return { clear, hashes }
}

/** 16 bytes, hexadecimal. From some of them nobody can compute the others, or the seed. */
const saltCharacters = 32
/** A part of a hash of 64 bytes each. */
const saltsOfHash = 4

/**
 * Records the event of a change, in the transaction of the change. `sealEvents` gives the event its place in
 * the log later, so no writer has to wait for another.
 */
export async function recordEvent(trx: Trx, stamp: Stamp, event: Event): Promise<void> {
  await insertEvent(trx, eventRow(stamp, event))
}

/** Inserts rows unchanged, in one statement. */
export async function recordEvents(trx: Trx, rows: readonly EventColumns[]): Promise<void> {
  if (rows.length > 0) await insertEvents(trx, rows)
}
