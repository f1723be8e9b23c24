/**
 * Erasure from the log: names and texts go from `clear`, with their salts. The tree holds because the hashes
 * stay, and nothing can be guessed from them. An event says what was taken, and nothing of what it was.
 */
import { type Clear, erased } from '../../../proof/line.ts'
import { sha256 } from '../../../proof/sha256.ts'
import type { Stamp } from '../../caller/stamp.ts'
import { awaitWriters } from '../../db/engine.ts'
import type { Trx } from '../../db/tables.ts'
import { type clearMembers, recordEvent } from '../events/events.ts'
import { refuseContradicted } from './contradiction.ts'
import { sealEvents } from './sealing.ts'
import { type ErasableEvent, erasableEvents, lockHead, storeClear } from './store.ts'

/** Where values were, by the names of `clear`: the sequences of their lines. */
export type Places = Record<string, number[]>

export interface Taken {
  places: Places
  /** The ids of the orders whose lines had them. */
  orders: string[]
}

const subjectAccount = ({ subject_kind, subject_id }: ErasableEvent) =>
  subject_kind === 'account' ? Number(subject_id) : null

/** Whose name each member of `clear` is: an account, as the line has it; null for a name of no account. */
const accountNamed: Record<(typeof clearMembers)[number], (event: ErasableEvent) => unknown> = {
  by: ({ by_id }) => by_id,
  byName: ({ by_id }) => by_id,
  for: ({ for_id }) => for_id,
  forName: ({ for_id }) => for_id,
  name: subjectAccount,
  formerName: subjectAccount,
  printedName: subjectAccount,
  passkeyName: subjectAccount,
  companySubject: subjectAccount,
  owner: ({ data }) => JSON.parse(data).ownerId,
  deputy: ({ data }) => JSON.parse(data).deputyId,
  passwordSetBy: ({ data }) => JSON.parse(data).passkey?.restedOn?.passwordSetBy,
  customer: () => null,
  displayName: () => null,
  text: () => null,
  documentName: () => null,
}

/** Whether a value of a line is a name of the account. */
export const isNameOf = (id: number) => (event: ErasableEvent, name: string) =>
  accountNamed[name as keyof typeof accountNamed]?.(event) === id

/**
 * Waits for events that are being written, holds back others until the transaction ends, and seals those that
 * wait: what an erasure takes has a place. Like a sealer, it locks the head before the table. Throws
 * `log-contradicted`.
 */
export async function sealForErasure(trx: Trx): Promise<void> {
  await lockHead(trx, { waits: true })
  await refuseContradicted(trx)
  await awaitWriters(trx, 'unsealed_events')
  while ((await sealEvents(trx, { limit: batch })) > 0);
}

/** Lines that are read and written together. */
const batch = 500

/** Takes from these lines every value that `isTaken` names. */
export async function takeFrom(
  trx: Trx,
  sequences: readonly number[],
  isTaken: (event: ErasableEvent, name: string) => boolean,
): Promise<Taken> {
  const places: Places = {}
  const orders = new Set<string>()
  for (let at = 0; at < sequences.length; at += batch) {
    for (const event of await erasableEvents(trx, sequences.slice(at, at + batch))) {
      const clear: Record<string, Clear> = JSON.parse(event.clear)
      const names = Object.keys(clear).filter((name) => clear[name]?.value !== null && isTaken(event, name))
      if (names.length === 0) continue
      for (const name of names) {
        clear[name] = erased
        places[name] ??= []
        places[name].push(event.sequence)
      }
      await storeClear(trx, { sequence: event.sequence, clear: JSON.stringify(clear) })
      if (event.subject_kind === 'order') orders.add(event.subject_id)
    }
  }
  return { places, orders: [...orders] }
}

/** A line has at most a mebibyte, so what was taken may need several. */
const listedInLine = 20_000

/**
 * Records what was taken, and seals it at once: without this event, it would seem to have been removed
 * secretly. `subject` is the sequence of a line, or the name that stands in the place of the erased one.
 */
export async function recordErasure(
  trx: Trx,
  stamp: Stamp,
  { subject, places, orders = [] }: { subject: string; places: Places; orders?: readonly string[] },
): Promise<void> {
  const listed = Object.entries(places).flatMap(([name, sequences]) =>
    sequences.map((sequence) => ({ name, sequence })),
  )
  const length = Math.max(1, listed.length, orders.length)
  for (let at = 0; at < length; at += listedInLine) {
    const part = listed.slice(at, at + listedInLine)
    const taken: Places = {}
    for (const { name, sequence } of part) {
      taken[name] ??= []
      taken[name].push(sequence)
    }
    const ids = orders.slice(at, at + listedInLine)
    const facts = { erased: taken, ...(ids.length > 0 && { orders: ids }) }
    await recordEvent(trx, partOf(stamp, at), {
      kind: 'erased',
      subject: { kind: 'log', id: subject },
      facts,
    })
  }
  while ((await sealEvents(trx, { limit: batch })) > 0);
}

/** The same stamp for another event of the operation. */
export function partOf(stamp: Stamp, at: number): Stamp {
  if (at === 0) return stamp
  const seed = sha256(stamp.seed, `from ${at}`).slice(0, 32)
  return { ...stamp, seed, eventId: `${stamp.eventId.slice(0, 24)}${seed.slice(0, 12)}` }
}
