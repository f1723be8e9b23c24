import { Link, useNavigate } from '@tanstack/react-router'
import { Button } from 'react-aria-components/Button'
import { useMay, useUser } from '../../auth/session.ts'
import { CheckIcon } from '../../ui/icons.tsx'
import { Key } from '../../ui/key.tsx'
import { draftLike } from '../create/form.ts'
import { type DeedName, deeds } from '../decide/actions.ts'
import type { Order } from '../order.ts'
import { approved } from '../states.ts'
import type { Deciding } from './deciding.tsx'

interface ActionsProps {
  order: Order
  deciding: Deciding
}

/** What one may do with the order: decide about it while it is pending, and go on from it in any state. */
export function OrderActions({ order, deciding: { possible, open } }: ActionsProps) {
  return (
    <div className="row order-actions">
      {possible.includes('approve') && (
        <Button className="button button-primary order-approve" onPress={() => open('approve')}>
          <CheckIcon />
          Approve
          <Key name="a" />
        </Button>
      )}
      {asking.map(
        (deed) =>
          possible.includes(deed) && (
            <Button key={deed} className="button" onPress={() => open(deed)}>
              {deeds[deed].name} …{deed === 'reject' && <Key name="r" />}
            </Button>
          ),
      )}
      {order.status === approved && (
        <Link to="/orders/$id/receipt" params={{ id: order.id }} className="button">
          Receipt
        </Link>
      )}
      {useMay('Orders.Create') && <OrderLikeThis order={order} />}
    </div>
  )
}

const asking = ['reject', 'withdraw'] as const satisfies DeedName[]

/** An order is never edited: what is wrong with it is made right in another one. */
function OrderLikeThis({ order }: { order: Order }) {
  const { id } = useUser()
  const navigate = useNavigate()
  function begin() {
    draftLike(id, order)
    void navigate({ to: '/orders/new' })
  }
  return (
    <Button className="button button-quiet" onPress={begin}>
      New order like this one
    </Button>
  )
}
