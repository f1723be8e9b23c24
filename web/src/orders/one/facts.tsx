import { Button } from 'react-aria-components/Button'
import { copy } from '../../ui/copy.ts'
import { formatTotal } from '../../ui/format.ts'
import { CopyIcon } from '../../ui/icons.tsx'
import type { OrderApprovals, OrderSummary } from '../order.ts'
import { allows } from '../states.ts'
import { Approvals } from './given-approvals.tsx'

interface FactsProps {
  order: OrderSummary | undefined
  approvals: OrderApprovals | undefined
  id: string
}

/** The order, and who approved it. `undefined` while it is loading. */
export function OrderFacts({ order, approvals, id }: FactsProps) {
  const isPending = order !== undefined && allows(order.status, 'approve')
  const hasApprovals = isPending || (approvals?.given.length ?? 0) > 0
  return (
    <section className="sheet order-facts" aria-label="Order">
      <dl className="stack gap-5">
        <div>
          <dt className="soft">Total</dt>
          <dd className="large-total">
            {order ? formatTotal(order.total) : <span className="skeleton" style={{ width: '9ch' }} />}
          </dd>
        </div>
        <div>
          <dt className="soft">Order number</dt>
          <dd className="row order-number">
            <code className="wrap">{order?.id ?? id}</code>
            <Button
              className="button button-quiet button-small"
              aria-label="Copy order number"
              onPress={() => void copy(order?.id ?? id, 'Order number')}
            >
              <CopyIcon />
              Copy
            </Button>
          </dd>
        </div>
        {order && approvals && hasApprovals && <Approvals approvals={approvals} isPending={isPending} />}
      </dl>
    </section>
  )
}
