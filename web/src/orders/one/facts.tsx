import { Button } from 'react-aria-components/Button'
import { announce } from '../../ui/announce.ts'
import { formatTotal } from '../../ui/format.ts'
import { CopyIcon } from '../../ui/icons.tsx'
import type { OrderSummary } from '../order.ts'

/** What the order is. `undefined` while it is on its way. */
export function OrderFacts({ order, id }: { order: OrderSummary | undefined; id: string }) {
  return (
    <section className="order-facts" aria-label="Order">
      <dl>
        <div>
          <dt className="soft">Total</dt>
          <dd className="large-total">
            {order ? formatTotal(order.total) : <span className="skeleton" style={{ width: '9ch' }} />}
          </dd>
        </div>
        <div>
          <dt className="soft">Order number</dt>
          <dd className="row order-number">
            <code>{order?.id ?? id}</code>
            <Button
              className="button button-quiet button-small"
              aria-label="Copy order number"
              onPress={() => void copy(order?.id ?? id)}
            >
              <CopyIcon />
              Copy
            </Button>
          </dd>
        </div>
      </dl>
    </section>
  )
}

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    announce('Order number copied')
  } catch {
    announce('Your browser does not allow copying here. Select the number and copy it yourself.')
  }
}
