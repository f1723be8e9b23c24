import './dialog.css'
import { Dialog } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import type { Deed } from '../actions.ts'
import type { Subject } from '../decisions.ts'
import { DecideOne } from './one.tsx'
import { backOf, useRun } from './run.ts'
import { ApproveSeveral } from './several.tsx'

interface DecisionDialogProps {
  deed: Deed
  /** 1 to 100 orders to approve, or one for any other deed; those of the moment of opening count. */
  subjects: readonly Subject[]
  /** What is decided by then. A result that comes later is announced, and the views fetch it by themselves. */
  onClose(result: { decided: string[] }): void
}

/**
 * Asks whether to approve, reject or withdraw, does so, and tells what became of it.
 *
 * With `etag` exactly the version that the person saw is decided on. A list knows no versions, and its orders are not
 * read first to learn them: customer and total of an order never change, an order is approved only while it is
 * pending (the service decides that in one write), and so a read would double the requests and prevent nothing. When
 * orders can be edited one day, the list has to carry the version of each row, and `etag` is here already.
 *
 * The focus begins on "Cancel": what cannot be undone takes a step of its own, one Tab to "Approve" and Enter,
 * and no key that was pressed once too often. Where a reason is asked for, it begins there. Escape does what the
 * first button says.
 */
export function DecisionDialog({ deed, subjects, onClose }: DecisionDialogProps) {
  const run = useRun(deed, subjects, onClose)
  const [first, ...others] = run.steps
  const one = others.length === 0 ? first : undefined
  const back = backOf(run)
  return (
    <ModalOverlay className="dialog-scrim" isOpen onOpenChange={back.go}>
      <Modal className={one ? 'dialog' : 'dialog decide-several'}>
        <Dialog role="alertdialog" aria-describedby="decide-description">
          {one ? <DecideOne run={run} step={one} back={back} /> : <ApproveSeveral run={run} back={back} />}
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}
