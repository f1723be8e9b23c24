import type { ReactNode, RefObject } from 'react'
import { Button, type ButtonProps } from 'react-aria-components/Button'
import { ModalDialog } from './modal.tsx'
import type { ModalProps } from './modal-frame.tsx'

interface MenuProps extends ModalProps {
  trigger: RefObject<HTMLButtonElement | null>
  button: ButtonProps & { 'aria-keyshortcuts'?: string }
}

/** A button, and the dialog that it opens below itself. */
export function Menu({ trigger, button, ...dialog }: MenuProps) {
  return (
    <>
      <Button
        ref={trigger}
        className="button menu-button"
        aria-haspopup="dialog"
        aria-expanded={dialog.isOpen}
        onPress={() => dialog.onOpenChange(true)}
        {...button}
      />
      <ModalDialog below={trigger} {...dialog} />
    </>
  )
}

export function MenuPart({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section className="stack gap-2" aria-label={name}>
      <h3>{name}</h3>
      {children}
    </section>
  )
}
