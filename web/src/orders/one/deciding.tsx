import { type ReactNode, type RefObject, useEffect, useState } from 'react'
import { useMayDecide } from '../../auth/absence.ts'
import { announce } from '../../ui/announce.ts'
import { focusIfLost, later } from '../../ui/focus.ts'
import { useShortcut } from '../../ui/shortcuts.ts'
import { actions } from '../decide/actions.ts'
import type { Subject } from '../decide/decisions.ts'
import { DecisionDialog } from '../decide/dialog/dialog.tsx'
import { useChoices } from '../decide/possible.ts'
import type { OrderEvent, VersionedOrder } from '../order.ts'
import type { ActionName } from '../states.ts'

type View = RefObject<HTMLElement | null>

export interface Deciding {
  /** The actions that this person may take on the order now. */
  possible: readonly ActionName[]
  open(action: ActionName): void
  /** The question about an action that asks for a reason, for the card of the order. */
  question: ReactNode
  /** The question about any other action. */
  dialog: ReactNode
}

/** Decides on the version on the screen. */
export function useDeciding(
  view: View,
  shown: VersionedOrder | undefined,
  events: readonly OrderEvent[] | undefined,
): Deciding {
  const { subject, possible, whyNot } = useChoices(shown, events)
  const mayDecide = useMayDecide()
  const { ask, ...questions } = useDecisionDialog(view, () =>
    later(() => view.current?.querySelector('h1')?.focus()),
  )
  const open = (action: ActionName) => {
    const obstacle = whyNot(action)
    if (obstacle !== undefined) announce(obstacle)
    else if (subject) ask(action, subject)
  }
  useShortcut('a', mayDecide ? () => open('approve') : undefined)
  useShortcut('r', mayDecide ? () => open('reject') : undefined)
  const mayAny = possible.length > 0
  useEffect(() => {
    if (mayAny) return () => focusIfLost(view.current)
    return undefined
  }, [mayAny, view])
  return { possible, open, ...questions }
}

/** The question about one order. It returns the focus; `onDecided` may put it elsewhere. */
export function useDecisionDialog(view: View, onDecided: (action: ActionName, id: string) => void) {
  const [asked, setAsked] = useState<{ action: ActionName; subject: Subject; opener: Element | null }>()
  const isInCard = asked !== undefined && actions[asked.action].reason !== undefined
  const question = asked && (
    <DecisionDialog
      action={asked.action}
      subjects={[asked.subject]}
      onClose={({ decided: [id] }) => {
        setAsked(undefined)
        later(() => {
          if (document.activeElement === document.body && asked.opener instanceof HTMLElement)
            asked.opener.focus()
          focusIfLost(view.current)
        })
        if (id !== undefined) onDecided(asked.action, id)
      }}
    />
  )
  return {
    ask: (action: ActionName, subject: Subject) =>
      setAsked({ action, subject, opener: document.activeElement }),
    question: isInCard ? question : undefined,
    dialog: isInCard ? undefined : question,
  }
}
