import { currentPerson } from '../../auth/session.ts'
import { isStillDraft, keepDraft, type Sent, sendingOf, type Texts, type UserId } from '../../ui/draft.ts'
import { typedTotal } from '../../ui/format.ts'
import type { Order } from '../order.ts'
import { readCustomer } from './customer-input.ts'
import { notation } from './notation.ts'
import type { NewOrder } from './queries.ts'
import { readTotal } from './total-input.ts'

export const place = 'new order'

export const fields = {
  customer: readCustomer,
  total: (text: string) => readTotal(text, notation),
}
export type FieldName = keyof typeof fields
export const fieldNames = Object.keys(fields) as FieldName[]
export type Draft = Texts<typeof fields>

/** A draft with the values of another order, replacing what was typed before. */
export function draftLike(userId: UserId, { customer, total }: Pick<Order, 'customer' | 'total'>): void {
  keepDraft(place, userId, { customer, total: typedTotal(total) } satisfies Draft)
}

/** An order to be sent, the draft it was made from, and who sends it. */
export interface Sending extends Omit<NewOrder, 'idempotencyKey'> {
  draft: Draft
  person: number
  sent: Sent
}

export function prepareSending(
  userId: UserId,
  draft: Draft,
  values: Omit<NewOrder, 'idempotencyKey'>,
): Sending {
  return { ...values, draft, person: currentPerson(), sent: sendingOf(place, userId, values) }
}

export const isStillThere = ({ sent, draft }: Sending) => isStillDraft(place, sent, draft)
