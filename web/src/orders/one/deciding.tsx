import { type ReactNode, type RefObject, useEffect, useState } from 'react'
import { useShortcut } from '../../ui/shortcuts.ts'
import type { Subject } from '../decide/decisions.ts'
import { DecisionDialog } from '../decide/dialog/dialog.tsx'
import { usePossible } from '../decide/possible.ts'
import type { OrderEvent, VersionedOrder } from '../order.ts'
import type { ActionName } from '../states.ts'

type View = RefObject<HTMLElement | null>

export interface Deciding {
  /** What this person may do to the order as it is now. */
  possible: readonly ActionName[]
  open(action: ActionName): void
  dialog: ReactNode
}

/** Decides about the version on the screen, by the dialog. */
export function useDeciding(
  view: View,
  shown: VersionedOrder | undefined,
  events: readonly OrderEvent[],
): Deciding {
  const possible = usePossible(shown, events)
  const { ask, dialog } = useDecisionDialog(view, () =>
    later(() => view.current?.querySelector('h1')?.focus()),
  )
  const open = (action: ActionName) => {
    if (shown && possible.includes(action)) ask(action, { ...shown.order, etag: shown.etag })
  }
  useShortcut('a', possible.includes('approve') ? () => open('approve') : undefined)
  useShortcut('r', possible.includes('reject') ? () => open('reject') : undefined)
  const mayAny = possible.length > 0
  useEffect(() => {
    if (mayAny) return () => focusIfLost(view.current)
    return undefined
  }, [mayAny, view])
  return { possible, open, dialog }
}

/** The dialog about one order. It returns the focus; `onDecided` may put it elsewhere. */
export function useDecisionDialog(view: View, onDecided: (action: ActionName, id: string) => void) {
  const [asked, setAsked] = useState<{ action: ActionName; subject: Subject }>()
  return {
    ask: (action: ActionName, subject: Subject) => setAsked({ action, subject }),
    dialog: asked && (
      <DecisionDialog
        action={asked.action}
        subjects={[asked.subject]}
        onClose={({ decided: [id] }) => {
          setAsked(undefined)
          later(() => focusIfLost(view.current))
          if (id !== undefined) onDecided(asked.action, id)
        }}
      />
    ),
  }
}

/** The button that had the focus may be gone by then. */
export const later = (act: () => void) => setTimeout(act, 50)

/** On the heading, if the focused button is gone. Others may have removed it, too. */
export function focusIfLost(view: HTMLElement | null): void {
  if (document.activeElement === document.body) view?.querySelector('h1')?.focus({ preventScroll: true })
}
