import './approve.css'
import { Dialog } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import type { Subject } from './approvals.ts'
import { ApproveOne } from './one.tsx'
import { backOf, useRun } from './run.ts'
import { ApproveSeveral } from './several.tsx'

interface ApproveDialogProps {
  /** 1 to 100 orders, as the person sees them; those of the moment of opening count. */
  subjects: readonly Subject[]
  isOpen: boolean
  /** What is approved by then. A result that comes later is announced, and the views fetch it by themselves. */
  onClose(result: { approved: string[] }): void
}

/**
 * Asks whether to approve, approves, and tells what became of it.
 *
 * With `etag` exactly the version that the person saw is approved. A list knows no versions, and its orders are not
 * read first to learn them: customer and total of an order never change, an order is approved only while it is
 * pending (the service decides that in one write), and so a read would double the requests and prevent nothing. When
 * orders can be edited one day, the list has to carry the version of each row, and `etag` is here already.
 *
 * The focus begins on "Cancel": what cannot be undone takes a step of its own, one Tab to "Approve" and Enter, and
 * no key that was pressed once too often. Escape does what the first button says.
 */
export function ApproveDialog({ subjects, isOpen, onClose }: ApproveDialogProps) {
  return isOpen && subjects.length > 0 ? <OpenDialog subjects={subjects} onClose={onClose} /> : null
}

function OpenDialog({ subjects, onClose }: Omit<ApproveDialogProps, 'isOpen'>) {
  const run = useRun(subjects, onClose)
  const [first, ...others] = run.steps
  const one = others.length === 0 ? first : undefined
  const back = backOf(run)
  return (
    <ModalOverlay className="dialog-scrim" isOpen onOpenChange={back.go}>
      <Modal className={one ? 'dialog' : 'dialog approve-several'}>
        <Dialog role="alertdialog" aria-describedby="approve-description">
          {one ? <ApproveOne run={run} step={one} back={back} /> : <ApproveSeveral run={run} back={back} />}
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}
