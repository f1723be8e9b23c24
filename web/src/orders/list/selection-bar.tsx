import { type ReactNode, type RefObject, useRef, useState } from 'react'
import { announce } from '../../ui/announce.ts'
import { formatCount, formatTotal } from '../../ui/format.ts'
import { lazyPart } from '../../ui/lazy-view.tsx'
import { useShortcut } from '../../ui/shortcuts.ts'
import { type Chosen, subjectOfRow } from '../decide/chosen.ts'
import type { Subject } from '../decide/decisions.ts'
import { sumOfTotals } from '../decide/totals.ts'
import type { OrderSummary } from '../order.ts'
import { allows, waitingWord } from '../states.ts'
import { focusRow, rowIdOf } from './rows.ts'

const DecisionDialog = lazyPart('DecisionDialog', () => import('../decide/dialog/dialog.tsx'))

/** One dialog handles this many orders. The others stay selected for the next one. */
const mostAtOnce = 100

export interface Approving {
  /** Asks whether to approve these, or to reject them. */
  ask(chosen: Chosen, action?: 'approve' | 'reject'): void
  /** The button that asks, when it is on the screen. */
  button: RefObject<HTMLButtonElement | null>
  dialog: ReactNode
}

/**
 * Approves or rejects the chosen orders. The dialog belongs to the whole view, so it can show its result
 * whatever the list does.
 */
export function useApproving(): Approving {
  const [subjects, setSubjects] = useState<readonly Subject[]>([])
  const [action, setAction] = useState<'approve' | 'reject'>('approve')
  const button = useRef<HTMLButtonElement>(null)
  function close({ decided }: { decided: string[] }) {
    setSubjects([])
    // Runs after the dialog has returned the focus, which fails if the button is gone.
    setTimeout(() => {
      if (document.activeElement === document.body) focusNear(button.current, decided)
    }, 100)
  }
  return {
    ask(chosen, wanted = 'approve') {
      setAction(wanted)
      setSubjects([...chosen.values()].slice(0, mostAtOnce))
    },
    button,
    dialog: subjects.length > 0 && <DecisionDialog action={action} subjects={subjects} onClose={close} />,
  }
}

/**
 * Focuses the button if it is there, or else the row of one of these orders, or else the heading of an empty
 * list.
 */
function focusNear(button: HTMLButtonElement | null, ids: readonly string[]): void {
  if (button) button.focus()
  else if (!focusRow(ids)) document.querySelector('h1')?.focus()
}

interface BarProps {
  chosen: Chosen
  /** The orders on the screen. */
  orders: readonly OrderSummary[]
  approving: Approving
  onClear(): void
}

/**
 * The actions on the chosen orders, even if none of them is on the page. Invisible if none is chosen.
 */
export function SelectionBar({ chosen, orders, approving, onClear }: BarProps) {
  const ask = () => approving.ask(chosen)
  const reject = () => approving.ask(chosen, 'reject')
  useShortcut('r', chosen.size > 0 ? reject : undefined)
  const countHere = orders.filter(({ id }) => chosen.has(id)).length
  useShortcut('a', () => {
    if (chosen.size > 0) return ask()
    const order = orders.find(({ id }) => id === rowIdOf(document.activeElement))
    if (order === undefined) announce('Select orders first, or go to one with j and k.')
    else if (!allows(order.status, 'approve')) announce(`Only ${waitingWord} orders can be approved.`)
    else approving.ask(new Map([[order.id, subjectOfRow(order)]]))
  })
  const count = chosen.size
  const first = count > mostAtOnce ? ` the first ${mostAtOnce}` : ''
  const countElsewhere = count - countHere
  return (
    <div role="status">
      {count > 0 && (
        <div className="row selection">
          <p>
            <strong>{formatCount(count)} selected</strong>,{' '}
            {formatTotal(sumOfTotals(Array.from(chosen.values(), ({ total }) => total)))}
            {countElsewhere > 0 && <span>, {formatCount(countElsewhere)} of them on other pages</span>}
          </p>
          <button
            ref={approving.button}
            type="button"
            className="button button-primary"
            aria-keyshortcuts="a"
            onClick={ask}
          >
            {`Approve${first} …`}
          </button>
          <button type="button" className="button" aria-keyshortcuts="r" onClick={reject}>
            {`Reject${first} …`}
          </button>
          <button
            type="button"
            className="button"
            onClick={() => {
              focusNear(null, [...chosen.keys()])
              onClear()
            }}
          >
            Clear
          </button>
        </div>
      )}
    </div>
  )
}
