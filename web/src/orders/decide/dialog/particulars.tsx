import { formatInstant } from '../../../ui/format.ts'
import { type Identity, numberOf } from '../../identity.ts'

/** The facts that distinguish an order from another one of the same customer and total. */
export function Particulars({ order }: { order: Identity }) {
  return (
    <span className="soft small">
      <code>{numberOf(order)}</code> · {formatInstant(order.createdAtUtc)}
    </span>
  )
}
