import type { Transaction } from 'kysely'
import type { Database } from '../db/tables.ts'
import {
  claimOf,
  type IdempotencyInput,
  type OnceAnswer,
  once,
  onceAnswering,
  type StoredAnswer,
} from '../http/idempotency.ts'
import { versionTag } from '../http/preconditions.ts'
import { Problem } from '../http/problems.ts'
import { type OrderStatus, transitions } from './order.ts'
import { findOrder, insertOrder, insertOrders, type NewOrder, transitionOrder } from './store.ts'

export interface CreateOrderInput {
  order: NewOrder
  idempotency: IdempotencyInput | null
}

/** Stores a pending order. The answer is the 201, or the one that the same key got before. */
export function createOrder(trx: Transaction<Database>, input: CreateOrderInput): Promise<OnceAnswer> {
  const { order, idempotency } = input
  return onceAnswering(trx, idempotency, createdAnswer(order), () => insertOrder(trx, order))
}

/**
 * Each order as `createOrder` stores it, all in one statement (PostgreSQL). Undefined for one whose key is held already,
 * or stands here before: what the answer to that is, `createOrder` tells.
 */
export async function createOrders(
  trx: Transaction<Database>,
  inputs: CreateOrderInput[],
): Promise<(OnceAnswer | undefined)[]> {
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
    key: idempotency && claimOf(idempotency, createdAnswer(order)),
  }))
  const stored = await insertOrders(trx, claims)
  return inputs.map(({ order }) =>
    stored.has(order.id) ? { ...createdAnswer(order), replayed: false } : undefined,
  )
}

function createdAnswer({ id }: NewOrder): StoredAnswer {
  return {
    status: 201,
    body: JSON.stringify({ id }),
    location: `/v1/orders/${id}`,
    etag: versionTag(1),
  }
}

export interface ApproveOrderInput {
  id: string
  /** Row versions that If-Match accepts; null for any. */
  acceptedVersions: number[] | null
  nowMilliseconds: number
  timeZone: string
  modifiedBy: string
  idempotency: IdempotencyInput | null
}

/**
 * Moves a pending order to approved by one conditional UPDATE, so that exactly one of any number of simultaneous
 * approvals succeeds. Throws `order-not-found`, `precondition-failed`, `order-not-pending` or `concurrency-conflict`.
 */
export function approveOrder(trx: Transaction<Database>, input: ApproveOrderInput): Promise<OnceAnswer> {
  return once(trx, input.idempotency, async () => {
    const version = await transitionOrder(trx, transitions.approve, input)
    if (version === undefined) throw await approvalRefusal(trx, input)
    return { status: 204, body: null, location: null, etag: versionTag(version) }
  })
}

/** The row is read only now, to name the reason for which nothing was updated. */
async function approvalRefusal(trx: Transaction<Database>, input: ApproveOrderInput): Promise<Problem> {
  const order = await findOrder(trx, input.id)
  if (order === undefined) return new Problem('order-not-found')
  const headers = { etag: versionTag(order.version) }
  if (input.acceptedVersions !== null && !input.acceptedVersions.includes(order.version)) {
    return new Problem('precondition-failed', { headers })
  }
  const allowed: readonly OrderStatus[] = transitions.approve.from
  if (allowed.includes(order.status)) return new Problem('concurrency-conflict', { headers })
  return new Problem('order-not-pending', {
    detail: 'Only a pending order can be approved.',
    members: { currentStatus: order.status },
    headers,
  })
}
