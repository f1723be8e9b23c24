import type { OrderSummary } from '../../order.ts'

/** What a person approves, and what about it another version may have different. */
type Facts = Pick<OrderSummary, 'customer' | 'total' | 'status'>

export type Change =
  | { field: 'customer'; before: string; now: string }
  | { field: 'total'; before: number; now: number }
  | { field: 'status'; before: Facts['status']; now: Facts['status'] }

/** Field by field what is different, in the order in which the view shows the fields. */
export function changesOf(before: Facts, now: Facts): Change[] {
  const all: Change[] = [
    { field: 'customer', before: before.customer, now: now.customer },
    { field: 'total', before: before.total, now: now.total },
    { field: 'status', before: before.status, now: now.status },
  ]
  return all.filter((change) => change.before !== change.now)
}
