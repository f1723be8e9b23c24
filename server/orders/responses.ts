import { formatInstant } from '../clock.ts'
import type { OrderSummary } from './list/query.ts'
import type { Order } from './order.ts'

/** Orders as they are sent (schemas.ts), members in the order of the description. */
export function toOrderResponse(order: Order) {
  return {
    id: order.id,
    customer: order.customer,
    total: order.totalE4 / 10_000,
    status: order.status,
    createdAtUtc: formatInstant(order.createdAt),
    createdAtTimeZone: order.createdAtTimeZone,
    updatedAtUtc: order.updatedAt === null ? null : formatInstant(order.updatedAt),
    updatedAtTimeZone: order.updatedAtTimeZone,
    createdBy: order.createdBy,
    modifiedBy: order.modifiedBy,
  }
}

/** `YYYY-MM-DD` in UTC. */
export function toDate(milliseconds: number): string {
  return formatInstant(milliseconds).slice(0, 10)
}

export function toSummaryResponse(order: OrderSummary) {
  const { id, customer, totalE4, status, createdAt } = order
  return { id, customer, total: totalE4 / 10_000, status, createdAtUtc: formatInstant(createdAt) }
}
