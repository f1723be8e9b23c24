import { type ReactNode, type RefObject, useState } from 'react'
import { queries } from '../../api/queries.ts'
import { useUser } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { useShortcut } from '../../ui/shortcuts.ts'
import { actions } from '../decide/actions.ts'
import { mark } from '../decide/course.ts'
import type { Subject } from '../decide/decisions.ts'
import { DecisionDialog } from '../decide/dialog/dialog.tsx'
import { usePossible } from '../decide/possible.ts'
import { hold } from '../decide/sending.ts'
import { type Deciding, focusIfLost } from '../one/deciding.tsx'
import type { OrderEvent, VersionedOrder } from '../order.ts'
import { approvalsQuery } from '../queries.ts'
import type { ActionName } from '../states.ts'
import { AskDialog, useAsks } from './asking.tsx'
import { Reason } from './reason.tsx'

interface Reviewing extends Deciding {
  /** The field for the reason, while a rejection waits for it. */
  reason: ReactNode
}

type Asked =
  /** Whether to ask from now on. */
  | { kind: 'asking'; action: ActionName }
  | { kind: 'reason' }
  /** The dialog of the order's page. */
  | { kind: 'dialog'; action: ActionName; subject: Subject }

/** A key pressed within this time after the order appeared was meant for the one before. */
const lookMilliseconds = 250

/**
 * Decides about the version on the screen, and goes on. Without confirmation that takes one key, and the
 * person has five seconds to undo it; otherwise the dialog of the order's page asks. Withdrawing always asks.
 */
export function useReviewing(
  view: RefObject<HTMLElement | null>,
  shown: VersionedOrder | undefined,
  events: readonly OrderEvent[],
  onDecided: () => void,
): Reviewing {
  const { id: userId } = useUser()
  const [asked, setAsked] = useState<Asked>()
  const [asks, setAsks] = useAsks()
  const possible = usePossible(shown, events)
  const isKnown = shown && queries.getQueryData(approvalsQuery(shown.order.id).queryKey) !== undefined
  const subject = shown && { ...shown.order, etag: shown.etag }

  function decide(action: ActionName, reason?: string) {
    if (!subject) return
    setAsked(undefined)
    hold(userId, action, { ...subject, ...(reason !== undefined && { reason }) })
    onDecided()
  }
  function begin(action: ActionName, isAsked: boolean) {
    if (!subject) return
    if (isAsked || action === 'withdraw') setAsked({ kind: 'dialog', action, subject })
    else if (actions[action].reason) setAsked({ kind: 'reason' })
    else decide(action)
  }
  function open(action: ActionName) {
    if (!isKnown) announce('The order is still loading.')
    else if (!possible.includes(action)) announce(`You cannot ${action} this order. Press j to go on.`)
    else if (asks === undefined && action !== 'withdraw') setAsked({ kind: 'asking', action })
    else begin(action, asks ?? true)
  }
  const [shownAt] = useState(() => performance.now())
  /** A key held down decides once. */
  function press(action: ActionName, event: KeyboardEvent | undefined) {
    const isMeant = event === undefined || (!event.repeat && event.timeStamp - shownAt >= lookMilliseconds)
    if (isMeant) open(action)
  }
  useShortcut('a', (event) => press('approve', event))
  useShortcut('r', (event) => press('reject', event))

  function close() {
    setAsked(undefined)
    // The button that had the focus may be gone.
    setTimeout(() => focusIfLost(view.current), 50)
  }
  return {
    possible,
    open,
    reason: asked?.kind === 'reason' && subject && possible.includes('reject') && (
      <Reason order={subject} onGiven={(reason) => decide('reject', reason)} onCancel={close} />
    ),
    dialog: (
      <>
        {asked?.kind === 'asking' && (
          <AskDialog
            action={asked.action}
            onAnswer={(isAsked) => {
              setAsks(isAsked)
              begin(asked.action, isAsked)
            }}
            onCancel={close}
          />
        )}
        {asked?.kind === 'dialog' && (
          <DecisionDialog
            action={asked.action}
            subjects={[asked.subject]}
            onClose={({ decided: [decided] }) => {
              close()
              if (decided === undefined) return
              mark(decided, asked.action)
              onDecided()
            }}
          />
        )}
      </>
    ),
  }
}
