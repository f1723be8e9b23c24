import { formatInstant } from '../../../ui/format.ts'
import { Name } from '../../../ui/name.tsx'
import { type Identity, numberOf } from '../../identity.ts'
import { countInWords, countOf, type ShownDocuments } from '../changes.ts'

interface ParticularsProps {
  order: Identity & { documents?: ShownDocuments | undefined }
}

/** The facts that distinguish an order from another one of the same customer and total. */
export function Particulars({ order }: ParticularsProps) {
  const documents = countInWords(order.documents)
  return (
    <span className="soft small">
      <code>{numberOf(order)}</code> · {formatInstant(order.createdAtUtc)}
      {documents && ` · ${documents}`}
    </span>
  )
}

/** The names, or how many there are. */
export function DocumentNames({ of = [] }: { of: ShownDocuments | undefined }) {
  if (countOf(of) === 0) return 'None'
  if (typeof of === 'number') return countInWords(of)
  return (
    <ul>
      {of.map(({ name, sha256 }) => (
        <li key={sha256} className="wrap">
          <Name of={name} />
        </li>
      ))}
    </ul>
  )
}
