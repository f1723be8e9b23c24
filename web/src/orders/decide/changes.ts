import type { OrderSummary } from '../order.ts'

const facts = ['customer', 'total', 'status'] as const
type Facts = Pick<OrderSummary, (typeof facts)[number]>

/** The fields that differ in another version, in the order in which the view shows them. */
export function changesOf(before: Facts, now: Facts): (keyof Facts)[] {
  return facts.filter((name) => before[name] !== now[name])
}
