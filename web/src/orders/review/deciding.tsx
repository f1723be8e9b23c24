import { type ReactNode, type RefObject, useState } from 'react'
import { queries } from '../../api/queries.ts'
import { useUser } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { useShortcut } from '../../ui/shortcuts.ts'
import { type DeedName, deeds } from '../decide/actions.ts'
import { mark } from '../decide/course.ts'
import type { Subject } from '../decide/decisions.ts'
import { DecisionDialog } from '../decide/dialog/dialog.tsx'
import { usePossible } from '../decide/possible.ts'
import { hold } from '../decide/sending.ts'
import { type Deciding, focusIfLost } from '../one/deciding.tsx'
import type { OrderEvent, VersionedOrder } from '../order.ts'
import { approvalsQuery } from '../queries.ts'
import { AskDialog, useAsks } from './asking.tsx'
import { Reason } from './reason.tsx'

interface Reviewing extends Deciding {
  /** Where the reason of a rejection is written, while it is. */
  reason: ReactNode
}

type Asked =
  /** Whether to ask from now on. */
  | { kind: 'asking'; deed: DeedName }
  | { kind: 'reason' }
  /** As on the page of the order. */
  | { kind: 'dialog'; deed: DeedName; subject: Subject }

/** A key that is pressed within that time after the order came was meant for the one before. */
const lookMilliseconds = 250

/**
 * Decides about the version which is shown, and goes on: at once, where the person wants no question, with five seconds
 * to take it back; else by the dialog of the order's page. Withdrawing always asks.
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

  function decide(deed: DeedName, reason?: string) {
    if (!subject) return
    setAsked(undefined)
    hold(userId, deed, { ...subject, ...(reason !== undefined && { reason }) })
    onDecided()
  }
  function begin(deed: DeedName, isAsked: boolean) {
    if (!subject) return
    if (isAsked || deed === 'withdraw') setAsked({ kind: 'dialog', deed, subject })
    else if (deeds[deed].reason) setAsked({ kind: 'reason' })
    else decide(deed)
  }
  function open(deed: DeedName) {
    if (!isKnown) announce('The order is still loading.')
    else if (!possible.includes(deed)) announce(`You cannot ${deed} this order. Press j to go on.`)
    else if (asks === undefined && deed !== 'withdraw') setAsked({ kind: 'asking', deed })
    else begin(deed, asks ?? true)
  }
  const [shownAt] = useState(() => performance.now())
  /** A key that is held down decides once. */
  function press(deed: DeedName, event: KeyboardEvent | undefined) {
    const isMeant = event === undefined || (!event.repeat && event.timeStamp - shownAt >= lookMilliseconds)
    if (isMeant) open(deed)
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
            deed={deeds[asked.deed]}
            onAnswer={(isAsked) => {
              setAsks(isAsked)
              begin(asked.deed, isAsked)
            }}
            onCancel={close}
          />
        )}
        {asked?.kind === 'dialog' && (
          <DecisionDialog
            deed={deeds[asked.deed]}
            subjects={[asked.subject]}
            onClose={({ decided: [decided] }) => {
              close()
              if (decided === undefined) return
              mark(decided, asked.deed)
              onDecided()
            }}
          />
        )}
      </>
    ),
  }
}
