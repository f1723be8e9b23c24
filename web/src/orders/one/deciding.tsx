import { type ReactNode, type RefObject, useCallback, useEffect, useState } from 'react'
import { useShortcut } from '../../ui/shortcuts.ts'
import { type DeedName, deeds } from '../decide/actions.ts'
import type { Subject } from '../decide/decisions.ts'
import { DecisionDialog } from '../decide/dialog/dialog.tsx'
import { usePossible } from '../decide/possible.ts'
import type { OrderEvent, VersionedOrder } from '../order.ts'

export interface Deciding {
  /** What this person may do to the order as it is now. */
  possible: readonly DeedName[]
  open(deed: DeedName): void
  dialog: ReactNode
}

/** The dialog that decides about the version which is shown, and the ways to open it. */
export function useDeciding(
  view: RefObject<HTMLElement | null>,
  shown: VersionedOrder | undefined,
  events: readonly OrderEvent[],
): Deciding {
  const [asked, setAsked] = useState<{ deed: DeedName; subject: Subject }>()
  const possible = usePossible(shown, events)
  const open = (deed: DeedName) => {
    if (shown && possible.includes(deed)) setAsked({ deed, subject: { ...shown.order, etag: shown.etag } })
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
  const dialog = asked && (
    <DecisionDialog deed={deeds[asked.deed]} subjects={[asked.subject]} onClose={close} />
  )
  return { possible, open, dialog }
}

/** The button that had the focus may be gone, also by what others did: then the heading has it. */
export function focusIfLost(view: HTMLElement | null): void {
  if (document.activeElement === document.body) view?.querySelector('h1')?.focus({ preventScroll: true })
}
