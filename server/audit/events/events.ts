/** Events: each change writes one in its transaction, where it waits to be sealed. */
import { canonicalJson } from '../../../proof/canonical.ts'
import { textHashOf } from '../../../proof/line.ts'
import type { Stamp } from '../../caller/stamp.ts'
import type { EventColumns, Trx } from '../../db/tables.ts'
import { newSalt } from '../../ids.ts'
import { insertEvent, insertEvents } from './store.ts'

/**
 * A text by a person. The salt (16 random bytes, hexadecimal) keeps an erased text from being guessed from
 * its hash.
 */
export interface Words {
  text: string
  salt: string
}

export function newWords(text: string): Words {
  return { text, salt: newSalt() }
}

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
  log: ['text-erased', 'log-restored'],
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
    for_name: stamp.for?.name ?? null,
    for_id: stamp.for?.id ?? null,
    data: canonicalJson(stamp.isService && subject.kind === 'order' ? { ...data, program: true } : data),
    text_hash: words && textHashOf(words),
    text_salt: words?.salt ?? null,
    text: words?.text ?? null,
  }
}

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
