import { approved, type OrderSummary } from './order.ts'

/** A status as a word with its sign. */
export function Status({ status }: Pick<OrderSummary, 'status'>) {
  return status === approved ? (
    <span className="status status-approved">Approved</span>
  ) : (
    <span className="status status-pending">Pending</span>
  )
}
