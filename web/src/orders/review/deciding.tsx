import { type ReactNode, type RefObject, useState } from 'react'
import { queries } from '../../api/queries.ts'
import { useUser } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { useShortcut } from '../../ui/shortcuts.ts'
import { actions } from '../decide/actions.ts'
import { mark } from '../decide/course.ts'
import { usePossible } from '../decide/possible.ts'
import { hold } from '../decide/sending.ts'
import { type Deciding, focusIfLost, later, useDecisionDialog } from '../one/deciding.tsx'
import type { OrderEvent, VersionedOrder } from '../order.ts'
import { approvalsQuery } from '../queries.ts'
import type { ActionName } from '../states.ts'
import { AskDialog, useAsks } from './asking.tsx'
import { Reason } from './reason.tsx'

interface Reviewing extends Deciding {
  /** The field for the reason, while a decision waits for it. */
  reason: ReactNode
}

/** `asking`: whether to confirm from now on. */
interface Asked {
  kind: 'asking' | 'reason'
  action: ActionName
}

/** A key pressed within this time after the order appeared was meant for the one before. */
const lookMilliseconds = 250

/** What has no key always asks. */
const isQuick = (action: ActionName) => actions[action].key !== undefined

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
  const { ask, dialog } = useDecisionDialog(view, (action, id) => {
    mark(id, action)
    onDecided()
  })

  function decide(action: ActionName, reason?: string) {
    if (!subject) return
    setAsked(undefined)
    hold(userId, action, { ...subject, ...(reason !== undefined && { reason }) })
    onDecided()
  }
  function begin(action: ActionName, isAsked: boolean) {
    setAsked(undefined)
    if (!subject) return
    if (isAsked || !isQuick(action)) ask(action, subject)
    else if (actions[action].reason) setAsked({ kind: 'reason', action })
    else decide(action)
  }
  function open(action: ActionName) {
    if (!isKnown) announce('The order is still loading.')
    else if (!possible.includes(action)) announce(`You cannot ${action} this order. Press j to go on.`)
    else if (asks === undefined && isQuick(action)) setAsked({ kind: 'asking', action })
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
    later(() => focusIfLost(view.current))
  }
  return {
    possible,
    open,
    reason: asked?.kind === 'reason' && subject && possible.includes(asked.action) && (
      <Reason
        action={asked.action}
        order={subject}
        onGiven={(reason) => decide(asked.action, reason)}
        onCancel={close}
      />
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
        {dialog}
      </>
    ),
  }
}
