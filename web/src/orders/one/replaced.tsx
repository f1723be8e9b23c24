import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { changesOf } from '../decide/changes.ts'
import { Changes } from '../decide/dialog/changed.tsx'
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
  const before = { ...former.order, documents: former.documents }
  const changes = changesOf(before, now).filter((fact) => fact !== 'status')
  if (changes.length === 0) return <p>Nothing else is different.</p>
  return <Changes changes={changes} before={before} now={{ ...now.order, documents: now.documents }} />
}
