import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatTotal, inSeries } from '../../ui/format.ts'
import { Name } from '../../ui/name.tsx'
import { changesOf } from '../decide/changes.ts'
import { numberOf } from '../identity.ts'
import type { OrderApprovals, VersionedOrder } from '../order.ts'
import { approvalsQuery, orderQuery } from '../queries.ts'
import { shownAs } from '../states.ts'

interface ReplacedProps {
  shown: VersionedOrder | undefined
  approvals: OrderApprovals | undefined
}

/** The order that this one replaces, with what is different now, and the one that replaces it. */
export function Replaced({ shown, approvals }: ReplacedProps) {
  if (!approvals) return null
  const { replaces, replacedBy } = approvals
  return (
    <>
      {replaces !== null && (
        <div>
          <dt className="soft">Replaces</dt>
          <dd className="stack gap-1 wrap">
            <Former id={replaces} now={shown} />
          </dd>
        </div>
      )}
      {replacedBy !== null && (
        <div>
          <dt className="soft">Replaced by</dt>
          <dd>
            <OrderLink id={replacedBy} />
          </dd>
        </div>
      )}
    </>
  )
}

function OrderLink({ id }: { id: string }) {
  const { data } = useQuery(approvalsQuery(id))
  return (
    <Link to="/orders/$id" params={{ id }}>
      {numberOf(data ?? {}) || 'Order'}
    </Link>
  )
}

function Former({ id, now }: { id: string; now: VersionedOrder | undefined }) {
  const { data: former } = useQuery(orderQuery(id))
  return (
    <>
      <p>
        <OrderLink id={id} />
        {former && <span className="soft"> · {shownAs(former.order.status).word}</span>}
      </p>
      {former && now && <Differences former={former} now={now} />}
    </>
  )
}

function Differences({ former, now }: { former: VersionedOrder; now: VersionedOrder }) {
  const facts = changesOf({ ...former.order, documents: former.documents }, now)
  const [gone, added] = [only(former, now), only(now, former)]
  if (facts.every((fact) => fact === 'status')) return <p>Nothing else is different.</p>
  return (
    <ul className="small">
      {facts.includes('customer') && (
        <li>
          Customer was <Name of={former.order.customer} />
        </li>
      )}
      {facts.includes('total') && (
        <li>
          Total was <strong>{formatTotal(former.order.total)}</strong>
        </li>
      )}
      {added.length > 0 && <li>New: {inSeries(added)}</li>}
      {gone.length > 0 && <li>Missing: {inSeries(gone)}</li>}
    </ul>
  )
}

/** The names of the documents that only the first one has. */
function only({ documents }: VersionedOrder, other: VersionedOrder): string[] {
  const hashes = new Set(other.documents.map(({ sha256 }) => sha256))
  return documents.filter(({ sha256 }) => !hashes.has(sha256)).map(({ name }) => name)
}
