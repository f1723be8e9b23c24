import { type ReactNode, type RefObject, useCallback, useEffect, useState } from 'react'
import { useShortcut } from '../../ui/shortcuts.ts'
import type { Subject } from '../decide/decisions.ts'
import { DecisionDialog } from '../decide/dialog/dialog.tsx'
import { usePossible } from '../decide/possible.ts'
import type { OrderEvent, VersionedOrder } from '../order.ts'
import type { ActionName } from '../states.ts'

export interface Deciding {
  /** What this person may do to the order as it is now. */
  possible: readonly ActionName[]
  open(action: ActionName): void
  dialog: ReactNode
}

/** The dialog that decides about the version on the screen, and the ways to open it. */
export function useDeciding(
  view: RefObject<HTMLElement | null>,
  shown: VersionedOrder | undefined,
  events: readonly OrderEvent[],
): Deciding {
  const [asked, setAsked] = useState<{ action: ActionName; subject: Subject }>()
  const possible = usePossible(shown, events)
  const open = (action: ActionName) => {
    if (shown && possible.includes(action))
      setAsked({ action, subject: { ...shown.order, etag: shown.etag } })
  }
  useShortcut('a', possible.includes('approve') ? () => open('approve') : undefined)
  useShortcut('r', possible.includes('reject') ? () => open('reject') : undefined)
  const mayAny = possible.length > 0
  useEffect(() => {
    if (mayAny) return () => focusIfLost(view.current)
    return undefined
  }, [mayAny, view])
  const close = useCallback(
    ({ decided }: { decided: string[] }) => {
      setAsked(undefined)
      // The button that had the focus may be gone.
      setTimeout(() => {
        if (decided.length > 0) view.current?.querySelector('h1')?.focus()
        else focusIfLost(view.current)
      }, 50)
    },
    [view],
  )
  const dialog = asked && <DecisionDialog action={asked.action} subjects={[asked.subject]} onClose={close} />
  return { possible, open, dialog }
}

/** On the heading, if the focused button is gone. Others may have removed it, too. */
export function focusIfLost(view: HTMLElement | null): void {
  if (document.activeElement === document.body) view?.querySelector('h1')?.focus({ preventScroll: true })
}
