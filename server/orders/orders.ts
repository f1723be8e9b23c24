/**
 * Orders: they are created pending, and then only change by the transitions of `order.ts`. Each further part,
 * such as lists or filters, is a folder with a door of the same name.
 */
import { type Event, eventRow, recordEvent, recordEvents } from '../audit/audit.ts'
import type { Stamp } from '../caller/stamp.ts'
import type { Db, Trx } from '../db/tables.ts'
import { type IdempotencyInput, type Once, once, rowOfKey } from '../http/idempotency.ts'
import { newOrderedId } from '../ids.ts'
import { Problem } from '../problems/problems.ts'
import { type Decided, orderEvent, type Stamped } from './event.ts'
import { type OrderEventKind, type OrderStatus, replaceable, statusAfter, transitions } from './order.ts'
import { insertTogether } from './postgres.ts'
import {
  insertOrder,
  insertRows,
  markReplaced,
  type NewOrder,
  type OrderRow,
  rowOf,
  statusesOf,
} from './store.ts'

export interface CreateOrderInput {
  order: NewOrder
  stamp: Stamp
  /** A note of the creator, which is there before anyone can decide. */
  note?: NewNote | null
  idempotency: IdempotencyInput | null
}

interface NewNote {
  text: string
  /** UUIDv7 of its event. */
  eventId: string
}

export interface CreatedOrder {
  id: string
  version: number
}

export function newNote(text: string, nowMilliseconds: number): NewNote {
  return { text, eventId: newOrderedId(nowMilliseconds) }
}

/**
 * Stores a pending order. If it replaces another, throws `order-not-found`, `order-not-replaceable`,
 * `already-replaced`.
 */
export function createOrder(
  trx: Trx,
  { order, stamp, note, idempotency }: CreateOrderInput,
): Promise<Once<CreatedOrder>> {
  const result = created(order)
  const effect = async () => {
    if (order.replaces) await replace(trx, order.replaces, order.id)
    await recordEvent(trx, stamp, creationOf(order, await insertOrder(trx, order, stamp)))
    if (note) {
      const { text, eventId } = note
      const by = { ...stamp, eventId, seed: `${stamp.seed} note` }
      await recordEvent(trx, by, orderEvent('noted', asCreated(order), text))
    }
    return result
  }
  return once(trx, idempotency, effect, result)
}

/** The row is read only to name the reason why it was not updated. */
async function replace(trx: Trx, id: string, by: string): Promise<void> {
  if (await markReplaced(trx, id, by)) return
  const status = (await statusesOf(trx, [id])).get(id)
  if (status === undefined) throw new Problem('order-not-found')
  if (replaceable.includes(status)) throw new Problem('already-replaced')
  throw new Problem('order-not-replaceable', { members: { currentStatus: status } })
}

function creationOf(order: NewOrder, stamped?: Stamped): Event {
  const { replaces } = order
  return orderEvent('created', asCreated(order), null, { ...stamped, ...(replaces && { replaces }) })
}

const asCreated = (order: NewOrder) => ({ ...order, version: 1 })

function created({ id }: NewOrder): CreatedOrder {
  return { id, version: 1 }
}

/**
 * Stores each order as `createOrder` does, all in one statement (PostgreSQL). Undefined for an order that has
 * a note or replaces another, or whose key exists or is given twice here: `createOrder` answers that one.
 */
export async function createOrders(
  trx: Trx,
  inputs: CreateOrderInput[],
): Promise<(Once<CreatedOrder> | undefined)[]> {
  const plain = inputs.filter(({ order, note }) => !order.replaces && !note)
  const byKey = new Map(plain.toReversed().map((input) => [keyOf(input), input]))
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
  events: { kind: OrderEventKind; stamp: Stamp; order: Decided; text: string | null }[]
}

export async function addOrders(trx: Trx, { orders, events }: MadeOrders): Promise<void> {
  const stamped = await insertRows(trx, orders)
  const rows = events.map(({ kind, stamp, order, text }) => {
    const decided = isDecided(kind) ? { documents: [] } : {}
    return eventRow(
      stamp,
      orderEvent(kind, order, text, kind === 'created' ? stamped.get(order.id) : decided),
    )
  })
  await recordEvents(trx, rows)
}

const isDecided = (kind: OrderEventKind) =>
  Object.values(transitions).some(({ event, isDecision }) => isDecision && event === kind)

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
