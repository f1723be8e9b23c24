import type { EventColumns } from '../db/tables.ts'
import { newSalt } from '../ids.ts'
import { canonicalJson } from './canonical.ts'
import { textHashOf } from './chain.ts'

/** Who did something, and when: what every write operation is told beside its input. */
export interface Stamp {
  /** UUIDv7 of the event that it leaves. */
  eventId: string
  nowMilliseconds: number
  /** IANA name; null where the day of the person who acts says nothing. */
  timeZone: string | null
  /** User name or clientId, or `machine:` and the account of the machine that runs a command. */
  by: string
  byId: number | null
}

/** What a person wrote, with 16 random bytes (hexadecimal) that keep its hash from being guessed once it is erased. */
export interface Words {
  text: string
  salt: string
}

export function newWords(text: string): Words {
  return { text, salt: newSalt() }
}

/** Every kind of event, by the kind of its subject. docs/auditing.md says when each happens and what it holds. */
export const eventKinds = {
  order: ['created', 'approval-given', 'approved', 'rejected', 'withdrawn', 'noted'],
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
  ],
  role: ['role-added', 'role-removed', 'permissions-allowed', 'permissions-denied', 'permissions-set'],
  policy: ['policy-set'],
  log: ['text-erased'],
} as const

export type SubjectKind = keyof typeof eventKinds
export type EventKind<Subject extends SubjectKind = SubjectKind> = (typeof eventKinds)[Subject][number]

/** What happened, and to what: a subject has its own kinds of events. */
export type Event = { [Kind in SubjectKind]: EventOf<Kind> }[SubjectKind]

interface EventOf<Kind extends SubjectKind> {
  kind: EventKind<Kind>
  subject: { kind: Kind; id: string }
  /** Of the order or the policy, after the change. */
  version?: number
  data: Record<string, unknown>
  words?: Words | null
}

/** The row that `recordEvent` writes. */
export function eventRow(stamp: Stamp, { kind, subject, version, data, words = null }: Event): EventColumns {
  return {
    id: stamp.eventId,
    kind,
    subject_kind: subject.kind,
    subject_id: subject.id,
    version: version ?? null,
    at: stamp.nowMilliseconds,
    at_time_zone: stamp.timeZone,
    by_name: stamp.by,
    by_id: stamp.byId,
    data: canonicalJson(data),
    text_hash: words && textHashOf(words),
    text_salt: words?.salt ?? null,
    text: words?.text ?? null,
  }
}
