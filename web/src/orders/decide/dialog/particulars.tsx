import { formatInstant } from '../../../ui/format.ts'
import { type Identity, numberOf } from '../../identity.ts'

/** What distinguishes an order from another one of the same customer and total. */
export function Particulars({ order }: { order: Identity }) {
  return (
    <span className="soft small">
      <code>{numberOf(order)}</code> · {formatInstant(order.createdAtUtc)}
    </span>
  )
}
