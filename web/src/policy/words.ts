import { approvalsInWords, inWords, type PolicyRow } from '../orders/policy.ts'
import { formatCount, formatOrders, formatTotal, inSeries } from '../ui/format.ts'
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

/** Such as "Of the 80 orders of the last 30 days, 14 would have needed two approvals and 6 three." */
export function outcomeInWords(
  rows: readonly Pick<PolicyRow, 'approvals'>[],
  counts: readonly number[],
  days: number,
) {
  const all = counts.reduce((sum, count) => sum + count, 0)
  const one = rows[counts.indexOf(1)]
  if (all === 1 && one)
    return `The one order of the last ${days} days would have needed ${approvalsInWords(one)}.`
  if (all === 0) return `There were no orders in the last ${days} days.`
  const byApprovals = new Map<number, number>()
  for (const [index, { approvals }] of rows.entries()) {
    byApprovals.set(approvals, (byApprovals.get(approvals) ?? 0) + (counts[index] ?? 0))
  }
  const parts = [...byApprovals]
    .filter(([, count]) => count > 0)
    .sort(([one], [other]) => one - other)
    .map(([approvals, count], index) => {
      if (index > 0) return `${formatCount(count)} ${inWords(approvals)}`
      return `${count === all ? 'all' : formatCount(count)} would have needed ${approvalsInWords({ approvals })}`
    })
  return `Of the ${formatOrders(all)} of the last ${days} days, ${inSeries(parts)}.`
}
