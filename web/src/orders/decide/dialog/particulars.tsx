import { formatInstant } from '../../../ui/format.ts'
import { type Identity, shortNumber } from '../../identity.ts'

/** What distinguishes an order from another one of the same customer and total. */
export function Particulars({ order: { id, createdAtUtc } }: { order: Identity }) {
  return (
    <span className="soft small">
      <code>{shortNumber(id)}</code> · {formatInstant(createdAtUtc)}
    </span>
  )
}
