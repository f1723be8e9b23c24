import './dialog.css'
import type { ReactNode } from 'react'
import { Dialog, Heading } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'

interface FrameProps {
  title: string
  /** Read out with the title. */
  description: ReactNode
  isWide?: boolean
  /** Escape. */
  onLeave(): void
  /** The rest, with its buttons. */
  children: ReactNode
}

/** A question that stays until it is answered. */
export function QuestionFrame({ title, description, isWide = false, onLeave, children }: FrameProps) {
  return (
    <ModalOverlay className="dialog-scrim" isOpen onOpenChange={onLeave}>
      <Modal className={isWide ? 'dialog decide-several' : 'dialog'}>
        <Dialog role="alertdialog" aria-describedby="decide-description">
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          <div id="decide-description" className="stack">
            {description}
          </div>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}
