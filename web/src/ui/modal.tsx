import type { ReactNode } from 'react'
import { Dialog, Heading } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'

interface ModalDialogProps {
  /** Where what is in it has no heading of its own. */
  title?: string
  isOpen: boolean
  onOpenChange(isOpen: boolean): void
  children: ReactNode
}

/** A dialog that Escape and a press outside of it close. */
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
