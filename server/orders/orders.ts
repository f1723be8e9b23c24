import type { Transaction } from '#kysely'
import { type Event, eventRow, recordEvent, recordEvents, type Stamp } from '../audit/audit.ts'
import type { Database, EventColumns, OrdersTable } from '../db/tables.ts'
import { type IdempotencyInput, type Once, once, rowOfKey } from '../http/idempotency.ts'
import { orderEvent } from './event.ts'
import { insertOrder, insertOrders, insertRows, type NewOrder } from './store.ts'

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
  trx: Transaction<Database>,
  { order, stamp, idempotency }: CreateOrderInput,
): Promise<Once<CreatedOrder>> {
  return once(trx, idempotency, async () => {
    await insertOrder(trx, order, stamp)
    await recordEvent(trx, stamp, creationOf(order))
    return created(order)
  })
}

function creationOf({ id, customer, totalE4 }: NewOrder): Event {
  return orderEvent('created', { id, version: 1, customer, total: totalE4 })
}

function created({ id }: NewOrder): CreatedOrder {
  return { id, version: 1 }
}

/**
 * Each order as `createOrder` stores it, all in one statement (PostgreSQL). Undefined for one whose key is held
 * already, or stands here before: what the answer to that is, `createOrder` tells.
 */
export async function createOrders(
  trx: Transaction<Database>,
  inputs: CreateOrderInput[],
): Promise<(Once<CreatedOrder> | undefined)[]> {
  const byKey = new Map(
    inputs.toReversed().map((input) => {
      const { order, idempotency } = input
      return [
        idempotency === null
          ? order.id
          : JSON.stringify([idempotency.principalId, idempotency.operation, idempotency.key]),
        input,
      ]
    }),
  )
  const claims = [...byKey.values()].map(({ order, stamp, idempotency }) => ({
    order,
    creator: stamp,
    event: eventRow(stamp, creationOf(order)),
    key: idempotency && rowOfKey(idempotency, created(order)),
  }))
  const stored = await insertOrders(trx, claims)
  return inputs.map(({ order }) =>
    stored.has(order.id) ? { result: created(order), replayed: false } : undefined,
  )
}

/** Invented orders as they are, with what happened to them. */
export interface MadeOrders {
  orders: OrdersTable[]
  events: EventColumns[]
}

export async function addOrders(trx: Transaction<Database>, { orders, events }: MadeOrders): Promise<void> {
  await insertRows(trx, orders)
  await recordEvents(trx, events)
}
