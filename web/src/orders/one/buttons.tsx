import { Link, useNavigate } from '@tanstack/react-router'
import { Button } from 'react-aria-components/Button'
import { useMay, useUser } from '../../auth/session.ts'
import { CheckIcon } from '../../ui/icons.tsx'
import { Key } from '../../ui/key.tsx'
import { draftLike } from '../create/form.ts'
import { actions } from '../decide/actions.ts'
import type { Order } from '../order.ts'
import { actionNames, approved } from '../states.ts'
import type { Deciding } from './deciding.tsx'

interface ActionsProps {
  order: Order
  deciding: Deciding
  isReview: boolean
}

/** What the person may do with the order: decide about it, or go on from it. */
export function OrderActions({ order, deciding: { possible, open }, isReview }: ActionsProps) {
  const mayCreate = useMay('Orders.Create')
  return (
    <div className="row order-actions">
      {actionNames
        .filter((action) => possible.includes(action))
        .map((action) => {
          const { name, key } = actions[action]
          const isFirst = action === 'approve'
          return (
            <Button
              key={action}
              className={isFirst ? 'button button-primary' : 'button'}
              onPress={() => open(action)}
            >
              {isFirst && <CheckIcon />}
              {isFirst ? name : `${name} …`}
              {key && <Key name={key} />}
            </Button>
          )
        })}
      {order.status === approved && (
        <Link to="/orders/$id/receipt" params={{ id: order.id }} className="button">
          Approval certificate
        </Link>
      )}
      {mayCreate && !isReview && <Duplicate order={order} />}
    </div>
  )
}

/** An order is never edited: a mistake is corrected in a new order. */
function Duplicate({ order }: { order: Order }) {
  const { id } = useUser()
  const navigate = useNavigate()
  function begin() {
    draftLike(id, order)
    void navigate({ to: '/orders/new' })
  }
  return (
    <Button className="button button-quiet" onPress={begin}>
      Duplicate
    </Button>
  )
}
