import { currentPerson } from '../../auth/session.ts'
import {
  isStillDraft,
  keepDraft,
  type Reading,
  readDraft,
  type Sent,
  sendingOf,
  type Texts,
  type UserId,
} from '../../ui/draft.ts'
import { typedTotal } from '../../ui/format.ts'
import { readText } from '../free-text.ts'
import type { Order } from '../order.ts'
import { readCustomer } from './customer-input.ts'
import { notation } from './notation.ts'
import type { NewOrder } from './queries.ts'
import { readTotal } from './total-input.ts'

export const place = 'new order'
/** The chosen files are a draft too: they are in this page's memory until the order is created. */
export const filesPlace = 'documents of the new order'

/** The cells that a row of a sheet has, too. */
const cells = {
  customer: readCustomer,
  total: (text: string) => readTotal(text, notation),
}
export type CellName = keyof typeof cells
export const cellNames = Object.keys(cells) as CellName[]

export const fields = {
  ...cells,
  note: (text: string) => readText(text, undefined),
  /** The id of the order that it replaces; nobody types it. */
  replaces: (text: string): Reading<string> => ({ ok: true, wire: text }),
}
export type FieldName = keyof typeof fields
export const fieldNames = Object.keys(fields) as FieldName[]
export type Draft = Texts<typeof fields>

type Likeness = Pick<Order, 'customer' | 'total'> & {
  note?: string
  replaces?: string
  files?: readonly File[]
}

/** A draft with the values of another order, replacing what was typed before. */
export function draftLike(userId: UserId, { customer, total, files = [], ...others }: Likeness): void {
  const { note = '', replaces = '' } = others
  keepDraft(place, userId, { customer, total: typedTotal(total), note, replaces } satisfies Draft)
  keepDraft(filesPlace, userId, files.length > 0 ? files : undefined)
}

/** An order to be sent, the draft it was made from, and who sends it. */
export interface Sending extends Omit<NewOrder, 'idempotencyKey'> {
  draft: Draft
  /** To be added once it is created. */
  files: readonly File[]
  person: number
  sent: Sent
}

export function prepareSending(
  userId: UserId,
  draft: Draft,
  values: Omit<NewOrder, 'idempotencyKey'>,
): Sending {
  const files = readDraft<readonly File[]>(filesPlace, userId) ?? []
  return { ...values, draft, files, person: currentPerson(), sent: sendingOf(place, userId, values) }
}

export const isStillThere = ({ sent, draft }: Sending) => isStillDraft(place, sent, draft)
