import type { ReactNode } from 'react'
import { formatTotal } from '../../ui/format.ts'
import { Name } from '../../ui/name.tsx'
import { type Identity, numberOf } from '../identity.ts'
import type { OrderApprovals, OrderSummary } from '../order.ts'
import { allows } from '../states.ts'
import { Approvals } from './given-approvals.tsx'

interface FactsProps {
  order: (Identity & Pick<OrderSummary, 'status'>) | undefined
  approvals: OrderApprovals | undefined
  /** Further terms. */
  children: ReactNode
}

/** The order, and who approved it. `undefined` while it is loading. */
export function OrderFacts({ order, approvals, children }: FactsProps) {
  const isPending = order !== undefined && allows(order.status, 'approve')
  const hasApprovals = isPending || (approvals?.given.length ?? 0) > 0
  return (
    <section className="sheet order-facts" aria-label="Order">
      <dl className="columns gap-5">
        <div>
          <dt className="soft">Total</dt>
          <dd className="large-total">
            {order ? formatTotal(order.total) : <span className="skeleton" style={{ width: '9ch' }} />}
          </dd>
        </div>
        <div>
          <dt className="soft">Order number</dt>
          <dd>{order?.number ? numberOf(order) : <span className="skeleton" style={{ width: '5ch' }} />}</dd>
        </div>
        {approvals?.proposedBy && (
          <div>
            <dt className="soft">Proposed by</dt>
            <dd>
              <Name of={approvals.proposedBy} />, a program
            </dd>
          </div>
        )}
        {order && approvals ? (
          hasApprovals && <Approvals approvals={approvals} isPending={isPending} />
        ) : (
          <div>
            <dt className="soft">Approvals</dt>
            <dd className="skeleton" style={{ display: 'block', height: isPending ? 98 : 120 }} />
          </div>
        )}
        {children}
      </dl>
    </section>
  )
}
