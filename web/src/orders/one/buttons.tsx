import { Link, useNavigate } from '@tanstack/react-router'
import { Button } from 'react-aria-components/Button'
import { client } from '../../api/client.ts'
import { useAction } from '../../auth/action.ts'
import { useMay, useUser } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { endInWords } from '../../ui/describe.ts'
import { CheckIcon } from '../../ui/icons.tsx'
import { Key } from '../../ui/key.tsx'
import { draftLike } from '../create/form.ts'
import { actions } from '../decide/actions.ts'
import type { Order, OrderApprovals, OrderDocument, OrderEvent } from '../order.ts'
import { actionNames, approved, replaceable } from '../states.ts'
import type { Deciding } from './deciding.tsx'

interface ActionsProps {
  order: Order
  events: readonly OrderEvent[]
  approvals: OrderApprovals
  documents: readonly OrderDocument[]
  deciding: Deciding
  isReview: boolean
}

/** What the person may do with the order: decide about it, or go on from it. */
export function OrderActions({ deciding: { possible, open }, isReview, ...props }: ActionsProps) {
  const { order, events, approvals } = props
  const user = useUser()
  const mayCreate = useMay('Orders.Create')
  const created = events.find(({ kind }) => kind === 'created')
  const mayReplace =
    replaceable.includes(order.status) && created?.byId === user.id && approvals.replacedBy === null
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
      {mayCreate && mayReplace && <CreateAgain {...props} />}
      {mayCreate && !isReview && <Duplicate order={order} />}
    </div>
  )
}

/** A new order in place of a rejected one, with everything filled in. */
function CreateAgain({ order, events, documents }: Pick<ActionsProps, 'order' | 'events' | 'documents'>) {
  const { id } = useUser()
  const navigate = useNavigate()
  const readFiles = () =>
    Promise.all(
      documents
        .filter(({ erased }) => !erased)
        .map(async ({ id: documentId, name }) => {
          const bytes = await client.orders.document(order.id, documentId)
          return new File([bytes], name)
        }),
    )
  const begin = useAction(
    readFiles,
    (files) => {
      draftLike(id, { ...order, note: noteOf(events), replaces: order.id, files })
      void navigate({ to: '/orders/new' })
    },
    (failure) => announce(endInWords(failure)),
  )
  return (
    <Button className="button" aria-disabled={begin.isPending} onPress={() => begin.act()}>
      Create again …
    </Button>
  )
}

/** The note with which the order was created. */
function noteOf([created, ...others]: readonly OrderEvent[]): string {
  const note = others.find(({ kind, atUtc, byId }) => {
    return kind === 'noted' && atUtc === created?.atUtc && byId === created.byId
  })
  return note?.text ?? ''
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
