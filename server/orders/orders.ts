import type { Transaction } from 'kysely'
import type { Database } from '../db/tables.ts'
import { type IdempotencyInput, type Once, once, rowOfKey } from '../http/idempotency.ts'
import { versionTag } from '../http/preconditions.ts'
import { Problem } from '../http/problems.ts'
import { nameOfStatus, type OrderStatus, transitions } from './order.ts'
import { findOrder, insertOrder, insertOrders, type NewOrder, transitionOrder } from './store.ts'

export interface CreateOrderInput {
  order: NewOrder
  idempotency: IdempotencyInput | null
}

export interface CreatedOrder {
  id: string
  version: number
}

/** Stores a pending order. */
export function createOrder(
  trx: Transaction<Database>,
  { order, idempotency }: CreateOrderInput,
): Promise<Once<CreatedOrder>> {
  return once(trx, idempotency, async () => {
    await insertOrder(trx, order)
    return created(order)
  })
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
  const claims = [...byKey.values()].map(({ order, idempotency }) => ({
    order,
    key: idempotency && rowOfKey(idempotency, created(order)),
  }))
  const stored = await insertOrders(trx, claims)
  return inputs.map(({ order }) =>
    stored.has(order.id) ? { result: created(order), replayed: false } : undefined,
  )
}

export interface TransitionInput {
  id: string
  /** Row versions that If-Match accepts; null for any. */
  acceptedVersions: number[] | null
  nowMilliseconds: number
  timeZone: string
  modifiedBy: string
  idempotency: IdempotencyInput | null
}

type Transition = keyof typeof transitions
type Transitioned = Promise<Once<{ version: number }>>

export function approveOrder(trx: Transaction<Database>, input: TransitionInput): Transitioned {
  return transition(trx, 'approve', input)
}

/**
 * Moves an order along the transition by one conditional UPDATE, so that exactly one of any number of simultaneous
 * moves succeeds. Throws `order-not-found`, `precondition-failed`, `order-not-pending` or `concurrency-conflict`.
 */
function transition(trx: Transaction<Database>, name: Transition, input: TransitionInput): Transitioned {
  return once(trx, input.idempotency, async () => {
    const version = await transitionOrder(trx, transitions[name], input)
    if (version === undefined) throw await transitionRefusal(trx, name, input)
    return { version }
  })
}

/** The row is read only now, to name the reason for which nothing was updated. */
async function transitionRefusal(
  trx: Transaction<Database>,
  name: Transition,
  { id, acceptedVersions }: TransitionInput,
): Promise<Problem> {
  const order = await findOrder(trx, id)
  if (order === undefined) return new Problem('order-not-found')
  const headers = { etag: versionTag(order.version) }
  if (acceptedVersions !== null && !acceptedVersions.includes(order.version)) {
    return new Problem('precondition-failed', { headers })
  }
  const from: readonly OrderStatus[] = transitions[name].from
  if (from.includes(order.status)) return new Problem('concurrency-conflict', { headers })
  const done = nameOfStatus(transitions[name].to).toLowerCase()
  return new Problem('order-not-pending', {
    detail: `Only a pending order can be ${done}.`,
    members: { currentStatus: order.status },
    headers,
  })
}
