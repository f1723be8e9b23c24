import type { ReactNode } from 'react'
import { Dialog, Heading } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'

interface ModalDialogProps {
  /** For content without a heading. */
  title?: string
  isOpen: boolean
  onOpenChange(isOpen: boolean): void
  children: ReactNode
}

/** A dialog that Escape or a press outside closes. */
export function ModalDialog({ title, isOpen, onOpenChange, children }: ModalDialogProps) {
  return (
    <ModalOverlay className="dialog-scrim" isOpen={isOpen} onOpenChange={onOpenChange} isDismissable>
      <Modal className="dialog">
        <Dialog>
          {title && (
            <Heading slot="title" level={2}>
              {title}
            </Heading>
          )}
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}
