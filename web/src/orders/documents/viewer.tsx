import { useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { CloseIcon } from '../../ui/icons.tsx'
import { Name } from '../../ui/name.tsx'
import { useShortcut } from '../../ui/shortcuts.ts'
import type { OrderDocument } from '../order.ts'
import { wayToShow } from './files.ts'

export interface Viewing {
  /** The document on the screen. */
  document: OrderDocument | undefined
  show(document: OrderDocument | undefined): void
}

export const pathOf = (order: { id: string }, { id }: OrderDocument) =>
  `/v1/orders/${order.id}/documents/${id}`

/** `d` shows the first document that can be shown, and hides it again; so does Escape. */
export function useViewing(documents: readonly OrderDocument[] = []): Viewing {
  const [shown, setShown] = useState<string>()
  const document = documents.find(({ id }) => id === shown)
  const first = documents.find((each) => wayToShow(each, navigator.pdfViewerEnabled) !== undefined)
  useShortcut('d', first && (() => setShown(document ? undefined : first.id)))
  useShortcut('Escape', document && (() => setShown(undefined)))
  return { document, show: (next) => setShown(next?.id) }
}

/** A document next to its order. Its answer lets nothing run in it, nor does a sandbox where one works. */
export function Viewer({ order, viewing }: { order: { id: string }; viewing: Viewing }) {
  const { document, show } = viewing
  const way = document && wayToShow(document, navigator.pdfViewerEnabled)
  if (document === undefined || way === undefined) return null
  const path = pathOf(order, document)
  return (
    <section className="card viewer no-print" aria-label="Document">
      <div className="row row-between nowrap viewer-head">
        <strong className="clip">
          <Name of={document.name} />
        </strong>
        <div className="row nowrap gap-2">
          <a href={path} target="_blank" rel="noreferrer" className="button button-small">
            Open
          </a>
          <Button
            className="button button-quiet button-small"
            aria-label="Close the document"
            onPress={() => show(undefined)}
          >
            <CloseIcon />
          </Button>
        </div>
      </div>
      {way === 'picture' ? (
        <img src={path} alt={document.name} />
      ) : (
        <iframe
          key={path}
          src={path}
          title={document.name}
          referrerPolicy="no-referrer"
          {...(way === 'sandbox' && { sandbox: '' })}
        />
      )}
    </section>
  )
}
