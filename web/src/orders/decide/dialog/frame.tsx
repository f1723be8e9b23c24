import './dialog.css'
import { type KeyboardEvent, type ReactNode, useId } from 'react'
import { ModalDialog } from '../../../ui/modal.tsx'

interface FrameProps {
  title: string
  /** Read out with the title. */
  description: ReactNode
  isWide?: boolean
  /** Called on Escape. */
  onLeave(): void
  onKeyDown?: ((event: KeyboardEvent) => void) | undefined
  /** The content, including the buttons. */
  children: ReactNode
}

/** A dialog that stays until it is answered. */
export function QuestionFrame({ title, description, isWide = false, onLeave, children }: FrameProps) {
  return (
    <ModalDialog
      title={title}
      className={isWide ? 'decide-several' : ''}
      isOpen
      onOpenChange={onLeave}
      isDismissable={false}
      role="alertdialog"
      aria-describedby="decide-description"
    >
      <div id="decide-description" className="stack">
        {description}
      </div>
      {children}
    </ModalDialog>
  )
}

/** The same in the card of the order, for an action that asks for a reason. Keys outside it still work. */
export function QuestionInCard({ title, description, onLeave, onKeyDown, children }: FrameProps) {
  const id = useId()
  return (
    <section
      className="sheet stack decide-in-card no-print"
      role="alertdialog"
      aria-labelledby={id}
      aria-describedby="decide-description"
      onKeyDown={(event) => (event.key === 'Escape' ? onLeave() : onKeyDown?.(event))}
    >
      <h2 id={id}>{title}</h2>
      <div id="decide-description" className="stack">
        {description}
      </div>
      {children}
    </section>
  )
}
