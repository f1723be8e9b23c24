import type { PolicyRow } from '../orders/policy.ts'
import { formatCount, formatTotal } from '../ui/format.ts'
import type { PolicyWarning, WireRow } from './queries.ts'

/** Such as "From 10,000.00". `isOnly`: there is no other row. */
export function fromInWords({ from }: Pick<PolicyRow | WireRow, 'from'>, isOnly: boolean): string {
  if (isOnly) return 'All orders'
  return Number(from) === 0 ? 'All other orders' : `From ${formatTotal(from as `${number}`)}`
}

/** Such as "From 10,000.00: Nobody may approve orders. 3 pending orders have the same rule." */
export function warningInWords(warning: Omit<PolicyWarning, 'code'>, isOnly: boolean): string {
  const { detail, pendingOrders: count } = warning
  const concerns = `${formatCount(count)} pending ${count === 1 ? 'order has' : 'orders have'} the same rule.`
  return [`${fromInWords(warning, isOnly)}: ${detail}`, ...(count > 0 ? [concerns] : [])].join(' ')
}
