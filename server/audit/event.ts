import type { EventColumns } from '../db/tables.ts'
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

/** What happened; docs/auditing.md has the table of kinds. */
export interface Event {
  kind: string
  subject: { kind: 'order' | 'account' | 'role' | 'policy' | 'log'; id: string }
  /** Of an order or of the policy, after the change. */
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
