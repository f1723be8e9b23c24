import './documents.css'
import { Button } from 'react-aria-components/Button'
import { client } from '../../api/client.ts'
import { useAction } from '../../auth/action.ts'
import { useMay, useUser } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { EndNote } from '../../ui/failure.tsx'
import { formatCount, ownTimeZone } from '../../ui/format.ts'
import { CloseIcon } from '../../ui/icons.tsx'
import { Key } from '../../ui/key.tsx'
import { Name } from '../../ui/name.tsx'
import type { OrderApprovals, OrderDocument, OrderEvent, VersionedOrder } from '../order.ts'
import { ordersChanged } from '../queries.ts'
import { allows } from '../states.ts'
import { ChooseFiles } from './choose.tsx'
import { mostDocuments, sizeInWords, wayToShow, whyNotAdded } from './files.ts'
import { addFiles, dismiss, sendAgain, type UploadStep, useUploads } from './uploads.ts'
import { pathOf, type Viewing } from './viewer.tsx'

interface DocumentsProps {
  shown: VersionedOrder
  approvals: OrderApprovals | undefined
  events: readonly OrderEvent[] | undefined
  viewing: Viewing
}

/** The documents of the order. Its creator can change them until someone approves. */
export function Documents({ shown: { order, documents }, approvals, events, viewing }: DocumentsProps) {
  const user = useUser()
  const mayCreate = useMay('Orders.Create')
  const isCreator = events?.some(({ kind, byId }) => kind === 'created' && byId === user.id) ?? false
  const isUntouched = allows(order.status, 'approve') && approvals?.given.length === 0
  const mayChange = mayCreate && isCreator && isUntouched
  const uploads = useUploads(order.id)
  const removal = useRemoval(order.id)
  const left = mostDocuments - documents.length - uploads.length
  if (documents.length === 0 && uploads.length === 0 && !mayChange) {
    return <p className="soft documents">No documents.</p>
  }
  return (
    <div className="documents stack gap-2">
      <ul className="stack gap-2">
        {documents.map((document, at) => (
          <OneDocument
            key={document.id}
            {...{ order, document, viewing }}
            isFirst={at === 0}
            onRemove={mayChange ? () => removal.act(document) : undefined}
          />
        ))}
        {uploads.map((step) => (
          <Uploading key={step.sent.idempotencyKey} step={step} />
        ))}
      </ul>
      <div role="status">{removal.error && <EndNote failure={removal.error} />}</div>
      {mayChange && left > 0 && (
        <ChooseFiles onChosen={(files) => addFiles(order.id, files.slice(0, left))} />
      )}
    </div>
  )
}

interface OneProps {
  order: { id: string }
  document: OrderDocument
  viewing: Viewing
  isFirst: boolean
  onRemove: (() => void) | undefined
}

function OneDocument({ order, document, viewing, isFirst, onRemove }: OneProps) {
  const { id, name, size, erased } = document
  const isShown = viewing.document?.id === id
  return (
    <li className="row nowrap document">
      <span className="clip">
        {erased ? (
          <Name of={name} />
        ) : wayToShow(document, navigator.pdfViewerEnabled) ? (
          <Button
            className="button button-small document-show"
            aria-expanded={isShown}
            onPress={() => viewing.show(isShown ? undefined : document)}
          >
            <Name of={name} className="clip" />
            {isFirst && <Key name="d" />}
          </Button>
        ) : (
          <a href={pathOf(order, document)} download>
            <Name of={name} />
          </a>
        )}
      </span>
      <span className="soft small document-size">{erased ? 'Erased' : sizeInWords(size, formatCount)}</span>
      {onRemove && (
        <Button className="button button-quiet button-small" aria-label={`Remove ${name}`} onPress={onRemove}>
          <CloseIcon />
        </Button>
      )}
    </li>
  )
}

/** A document that is on its way, or was not added. */
function Uploading({ step }: { step: UploadStep }) {
  const { subject, progress } = step
  const isOver = progress.kind === 'refused' || progress.kind === 'unclear' || progress.kind === 'waiting'
  return (
    <li className="row document">
      <span className="clip">
        <Name of={subject.file.name} />
      </span>
      <span className="soft small" role="status">
        {isOver ? `Not added. ${'failure' in progress ? whyNotAdded(progress.failure) : ''}` : 'Sending …'}
      </span>
      {isOver && (
        <span className="row gap-2">
          <Button className="button button-small" onPress={() => sendAgain(step)}>
            Try again
          </Button>
          <Button className="button button-quiet button-small" onPress={() => dismiss(step)}>
            Dismiss
          </Button>
        </span>
      )}
    </li>
  )
}

function useRemoval(orderId: string) {
  return useAction(
    ({ id }: OrderDocument) => {
      // The document is removed once, however often the button is pressed.
      const options = { idempotencyKey: id, timeZone: ownTimeZone }
      return client.orders.removeDocument(orderId, id, options)
    },
    async () => {
      announce('Document removed')
      await ordersChanged(orderId)
    },
  )
}
