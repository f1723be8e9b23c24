import type { OrderSummary } from '../order.ts'

const facts = ['customer', 'total', 'status'] as const
type Facts = Pick<OrderSummary, (typeof facts)[number]>

/** What is different in another version, in the order in which the view shows it. */
export function changesOf(before: Facts, now: Facts): (keyof Facts)[] {
  return facts.filter((name) => before[name] !== now[name])
}
