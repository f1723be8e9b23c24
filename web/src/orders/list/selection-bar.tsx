import { type ReactNode, type Ref, type RefObject, useRef, useState } from 'react'
import { formatCount } from '../../ui/format.ts'
import { CheckIcon } from '../../ui/icons.tsx'
import { useShortcut } from '../../ui/shortcuts.tsx'
import type { Subject } from '../approve/approvals.ts'
import type { Chosen } from '../approve/chosen.ts'
import { ApproveDialog } from '../approve/dialog.tsx'
import { focusRow } from './rows.ts'

/** What one dialog takes; the others stay selected for the next one. */
const mostAtOnce = 100

export interface Approving {
  /** Asks whether to approve these. */
  ask(chosen: Chosen): void
  /** The button that leads there, when it is on the screen. */
  button: RefObject<HTMLButtonElement | null>
  dialog: ReactNode
}

/**
 * The way to approve what is chosen. The dialog belongs to the whole view: it stays, whatever becomes of the orders
 * and of the list, because it has a result to tell.
 */
export function useApproving(): Approving {
  const [subjects, setSubjects] = useState<readonly Subject[]>([])
  const button = useRef<HTMLButtonElement>(null)
  function close({ approved }: { approved: string[] }) {
    setSubjects([])
    // After the dialog has given the focus back, which it cannot to a button that is gone.
    setTimeout(() => {
      if (document.activeElement === document.body) focusNear(button.current, approved)
    }, 100)
  }
  return {
    ask: (chosen) => setSubjects([...chosen.values()].slice(0, mostAtOnce)),
    button,
    dialog: <ApproveDialog subjects={subjects} isOpen={subjects.length > 0} onClose={close} />,
  }
}

/** The button if it is there, else the row of one of these orders, else the heading: a list may have become empty. */
function focusNear(button: HTMLButtonElement | null, ids: readonly string[]): void {
  if (button) button.focus()
  else if (!focusRow(ids)) document.querySelector('h1')?.focus()
}

interface BarProps {
  chosen: Chosen
  /** How many of them are on the page that is shown. */
  countHere: number
  approving: Approving
  onClear(): void
}

/** What can be done with the chosen orders, also when none of them is on the page; nothing to see while there are none. */
export function SelectionBar({ chosen, countHere, approving, onClear }: BarProps) {
  const ask = () => approving.ask(chosen)
  useShortcut('a', ask)
  return (
    <div role="status">
      {chosen.size > 0 && (
        <Bar
          count={chosen.size}
          countElsewhere={chosen.size - countHere}
          approveButton={approving.button}
          onApprove={ask}
          onClear={() => {
            focusNear(null, [...chosen.keys()])
            onClear()
          }}
        />
      )}
    </div>
  )
}

function Bar({
  count,
  countElsewhere,
  approveButton,
  onApprove,
  onClear,
}: {
  count: number
  countElsewhere: number
  approveButton: Ref<HTMLButtonElement>
  onApprove(): void
  onClear(): void
}) {
  return (
    <div className="row selection">
      <CheckIcon />
      <p>
        <strong>{formatCount(count)} selected</strong>
        {countElsewhere > 0 && <span>, {formatCount(countElsewhere)} on other pages</span>}
      </p>
      <button
        ref={approveButton}
        type="button"
        className="button button-primary"
        aria-keyshortcuts="a"
        onClick={onApprove}
      >
        {count > mostAtOnce ? `Approve the first ${mostAtOnce} …` : 'Approve …'}
      </button>
      <button type="button" className="button" onClick={onClear}>
        Clear
      </button>
    </div>
  )
}
