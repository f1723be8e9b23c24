import { formatCount, formatOrders, formatTotal, inSeries } from '../ui/format.ts'
import type { PolicyRow, WireRow } from './queries.ts'

const numbers = ['no', 'one', 'two', 'three', 'four', 'five']
const inWords = (count: number) => numbers[count] ?? String(count)

const approvalsInWords = ({ approvals }: Pick<PolicyRow, 'approvals'>) =>
  `${inWords(approvals)} ${approvals === 1 ? 'approval' : 'approvals'}`

/** As "From 10,000.00"; `isOnly`: there is no other row. */
export function fromInWords({ from }: Pick<PolicyRow | WireRow, 'from'>, isOnly: boolean): string {
  if (isOnly) return 'All orders'
  return Number(from) === 0 ? 'All other orders' : `From ${formatTotal(from as `${number}`)}`
}

/** As "two approvals, from people other than the creator". */
export function ruleInWords({ approvals, selfApproval, services }: Omit<PolicyRow, 'from'>): string {
  const count = approvalsInWords({ approvals })
  if (selfApproval && services) return `${count}; the creator and services may approve`
  if (selfApproval) return `${count}, from people only; the creator may approve`
  return `${count}, from ${services ? 'anyone' : 'people'} other than the creator`
}

/** As "Of the 80 orders of the last 30 days, 14 would have needed two approvals and 6 three." */
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
