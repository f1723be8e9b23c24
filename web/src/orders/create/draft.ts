import { changesOfHands } from '../../auth/session.ts'
import { typedTotal } from '../../ui/format.ts'
import { holdPage } from '../../ui/reload.ts'
import type { Order } from '../order.ts'
import { newIdempotencyKey } from '../queries.ts'
import type { NewOrder } from './queries.ts'

/** What a person entered so far, as it was typed. */
export interface Draft {
  customer: string
  total: string
}
export type UserId = number | string

/** What is known of everything that was sent under one key. */
interface Past {
  idempotencyKey: string
  /** A request left, and no answer tells what became of it. A later refusal takes nothing of that back. */
  mayHaveHappened: boolean
}

interface Kept {
  userId: UserId
  draft: Draft
  /** By what was sent. */
  pasts: Map<string, Past>
}

/**
 * In the memory of this page alone, so that an ended session or a look elsewhere loses nothing, and nothing of it is
 * left on the computer. One person's at a time: it is gone as soon as somebody else opens the form.
 */
let kept: Kept | undefined

export const blankDraft: Draft = { customer: '', total: '' }

function keptFor(userId: UserId): Kept {
  if (kept?.userId !== userId) kept = { userId, draft: blankDraft, pasts: new Map() }
  return kept
}

export function readDraft(userId: UserId): Draft {
  return keptFor(userId).draft
}

export function keepDraft(userId: UserId, draft: Draft): void {
  keptFor(userId).draft = draft
  holdPage('draft', draft.customer !== '' || draft.total !== '')
}

/** A new order with the values of another one, in the place of what was typed before. */
export function draftLike(userId: UserId, { customer, total }: Pick<Order, 'customer' | 'total'>): void {
  keepDraft(userId, { customer, total: typedTotal(total) })
}

export function dropDraft(): void {
  kept = undefined
  holdPage('draft', false)
}

/** An order to be sent, what it was made of, and whose it is. */
export interface Sending extends NewOrder {
  draft: Draft
  hands: number
  past: Past
}

/**
 * The same key for the same values as long as there is a draft, however often they are sent and whatever was sent in
 * between: so one order is made of them, even when an answer never arrived.
 */
export function prepareSending(userId: UserId, values: { customer: string; total: string }): Sending {
  const { pasts, draft } = keptFor(userId)
  const content = JSON.stringify([values.customer, values.total])
  const past = pasts.get(content) ?? { idempotencyKey: newIdempotencyKey(), mayHaveHappened: false }
  pasts.set(content, past)
  return { ...values, idempotencyKey: past.idempotencyKey, draft, hands: changesOfHands(), past }
}

/** Whether the draft still is what the order was made of: not changed, started over or finished since. */
export function isStillDraft({ past, draft }: Sending): boolean {
  if (kept === undefined || ![...kept.pasts.values()].includes(past)) return false
  return kept.draft.customer === draft.customer && kept.draft.total === draft.total
}
