/**
 * Orders: they are created pending, and then only change by the transitions of `order.ts`. Each further part,
 * such as lists or filters, is a folder with a door of the same name.
 */
import { type Event, eventRow, recordEvent, recordEvents, type Words } from '../audit/audit.ts'
import type { Stamp } from '../caller/stamp.ts'
import type { Db, Trx } from '../db/tables.ts'
import { type IdempotencyInput, type Once, once, rowOfKey } from '../http/idempotency.ts'
import { type Decided, orderEvent, type Stamped } from './event.ts'
import { type OrderEventKind, type OrderStatus, statusAfter } from './order.ts'
import { insertTogether } from './postgres.ts'
import { insertOrder, insertRows, type NewOrder, type OrderRow, rowOf, statusesOf } from './store.ts'

export interface CreateOrderInput {
  order: NewOrder
  stamp: Stamp
  idempotency: IdempotencyInput | null
}

export interface CreatedOrder {
  id: string
  version: number
}

/** Stores a pending order. */
export function createOrder(
  trx: Trx,
  { order, stamp, idempotency }: CreateOrderInput,
): Promise<Once<CreatedOrder>> {
  return once(trx, idempotency, async () => {
    const stamped = await insertOrder(trx, order, stamp)
    await recordEvent(trx, stamp, creationOf(order, stamped))
    return created(order)
  })
}

export interface ProposeOrderInput extends CreateOrderInput {
  idempotency: IdempotencyInput
  /** Why it is proposed. */
  words: Words
  /** UUIDv7 of the event that keeps them. */
  noteId: string
}

/** Stores a pending order together with a note that says why. */
export function proposeOrder(
  trx: Trx,
  { order, stamp, idempotency, words, noteId }: ProposeOrderInput,
): Promise<Once<CreatedOrder>> {
  return once(trx, idempotency, async () => {
    const stamped = await insertOrder(trx, order, stamp)
    const note = orderEvent('noted', asCreated(order), words)
    await recordEvents(trx, [
      eventRow(stamp, creationOf(order, stamped)),
      eventRow({ ...stamp, eventId: noteId }, note),
    ])
    return created(order)
  })
}

function creationOf(order: NewOrder, stamped?: Stamped): Event {
  return orderEvent('created', asCreated(order), null, stamped)
}

const asCreated = (order: NewOrder) => ({ ...order, version: 1 })

function created({ id }: NewOrder): CreatedOrder {
  return { id, version: 1 }
}

/**
 * Stores each order as `createOrder` does, all in one statement (PostgreSQL). Undefined for an order whose
 * key exists or is given twice here: `createOrder` answers that one.
 */
export async function createOrders(
  trx: Trx,
  inputs: CreateOrderInput[],
): Promise<(Once<CreatedOrder> | undefined)[]> {
  const byKey = new Map(inputs.toReversed().map((input) => [keyOf(input), input]))
  const orders = [...byKey.values()].map(({ order, stamp, idempotency }) => ({
    order: rowOf(order, stamp),
    event: eventRow(stamp, creationOf(order)),
    key: idempotency && rowOfKey(idempotency, created(order)),
  }))
  const stored = await insertTogether(trx, orders)
  return inputs.map(({ order }) =>
    stored.has(order.id) ? { result: created(order), replayed: false } : undefined,
  )
}

function keyOf({ order, idempotency }: CreateOrderInput): string {
  if (idempotency === null) return order.id
  const { principalId, operation, key } = idempotency
  return JSON.stringify([principalId, operation, key])
}

/** Invented orders as rows, with what happened to them. */
export interface MadeOrders {
  orders: OrderRow[]
  events: { kind: OrderEventKind; stamp: Stamp; order: Decided; words: Words | null }[]
}

export async function addOrders(trx: Trx, { orders, events }: MadeOrders): Promise<void> {
  const stamped = await insertRows(trx, orders)
  const rows = events.map(({ kind, stamp, order, words }) =>
    eventRow(stamp, orderEvent(kind, order, words, kind === 'created' ? stamped.get(order.id) : {})),
  )
  await recordEvents(trx, rows)
}

/**
 * The status of the order after each event. An event that leaves the order as it is, such as a note, gets the
 * status of now. Undefined for events of other subjects.
 */
export async function orderStatuses(
  db: Db,
  events: readonly { kind: string; subject_kind: string; subject_id: string }[],
): Promise<(OrderStatus | undefined)[]> {
  const after = events.map(({ kind }) => statusAfter[kind as OrderEventKind] ?? undefined)
  const unknown = events.filter(
    ({ subject_kind }, index) => subject_kind === 'order' && after[index] === undefined,
  )
  const ids = unknown.map(({ subject_id }) => subject_id)
  const now = ids.length === 0 ? undefined : await statusesOf(db, ids)
  return events.map(({ subject_id }, index) => after[index] ?? now?.get(subject_id))
}
