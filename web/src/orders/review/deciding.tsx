import { type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { useUser } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { focusIfLost, later } from '../../ui/focus.ts'
import { useShortcut } from '../../ui/shortcuts.ts'
import { actions } from '../decide/actions.ts'
import { mark } from '../decide/course.ts'
import { useChoices } from '../decide/possible.ts'
import { hold } from '../decide/sending.ts'
import { useTouch } from '../decide/touch.ts'
import { TouchNote } from '../decide/touch-note.tsx'
import { type Deciding, useDecisionDialog } from '../one/deciding.tsx'
import type { OrderEvent, VersionedOrder } from '../order.ts'
import type { ActionName } from '../states.ts'
import { AskDialog, useAsks } from './asking.tsx'
import { Reason } from './reason.tsx'

/** `asking`: whether to confirm from now on; after the reason, if there is one. */
interface Asked {
  kind: 'asking' | 'reason'
  action: ActionName
  reason?: string
}

/** A key pressed within this time after the order appeared or changed was meant for what was there before. */
const lookMilliseconds = 250

/** When this version of the order was drawn with what may be done about it. */
function useAppearedAt(etag: string | undefined): RefObject<number> {
  const at = useRef(Number.POSITIVE_INFINITY)
  useLayoutEffect(() => {
    at.current = etag === undefined ? Number.POSITIVE_INFINITY : performance.now()
  }, [etag])
  return at
}

/** Whether one key press is enough. An action without a key always asks. */
const isQuick = (action: ActionName) => actions[action].key !== undefined

/**
 * Decides on the version on the screen, and moves on. Without confirmation one key is enough, and the person
 * has five seconds to undo it; otherwise the dialog of the order's page asks. Withdrawing always asks.
 */
export function useReviewing(
  view: RefObject<HTMLElement | null>,
  shown: VersionedOrder | undefined,
  events: readonly OrderEvent[] | undefined,
  onDecided: () => void,
): Deciding {
  const user = useUser()
  const [asked, setAsked] = useState<Asked>()
  const [asks, setAsks] = useAsks()
  const { subject, possible, whyNot } = useChoices(shown, events)
  const touching = useTouch()
  const { ask, question, dialog } = useDecisionDialog(view, (action, id) => {
    mark(id, action)
    onDecided()
  })

  const shownNow = useRef(subject?.id)
  shownNow.current = subject?.id
  async function decide(action: ActionName, reason?: string) {
    if (!subject) return
    setAsked(undefined)
    const made = { ...subject, ...(reason !== undefined && { reason }) }
    const signatures = await touching.ask(action, made.signedVersion === undefined ? [] : [made])
    if (signatures === undefined) return
    hold(user, action, { ...made, ...signatures.get(made.id) })
    if (shownNow.current === made.id) onDecided()
  }
  function begin({ action, reason }: Omit<Asked, 'kind'>, isAsked: boolean) {
    setAsked(undefined)
    if (!subject) return
    if (isAsked || !isQuick(action)) ask(action, subject)
    else void decide(action, reason)
  }
  function open(action: ActionName, reason?: string) {
    const about = { action, ...(reason !== undefined && { reason }) }
    const isQuickNow = isQuick(action) && asks !== true
    if (isQuickNow && actions[action].reason && reason === undefined) setAsked({ kind: 'reason', action })
    else if (isQuickNow && asks === undefined) setAsked({ kind: 'asking', ...about })
    else begin(about, asks ?? true)
  }
  const appearedAt = useAppearedAt(possible.length > 0 ? shown?.etag : undefined)
  /** A key held down decides once. */
  function press(action: ActionName, event: KeyboardEvent | undefined) {
    if (event?.repeat) return
    const obstacle = whyNot(action)
    const isSeen = event === undefined || event.timeStamp - appearedAt.current >= lookMilliseconds
    if (obstacle !== undefined) announce(obstacle)
    else if (isSeen) open(action)
    else announce(`The order has only just appeared. Press ${actions[action].key} again to ${action} it.`)
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
    question:
      asked?.kind === 'reason' && subject && possible.includes(asked.action) ? (
        <Reason
          action={asked.action}
          order={subject}
          onGiven={(reason) => open(asked.action, reason)}
          onCancel={close}
        />
      ) : (
        <>
          {touching.touch && (
            <section className="sheet stack no-print" role="status">
              {touching.touch.kind === 'awaited' && <p>{touching.touch.words}</p>}
              <TouchNote touch={touching.touch} />
            </section>
          )}
          {question}
        </>
      ),
    dialog: (
      <>
        {asked?.kind === 'asking' && (
          <AskDialog
            action={asked.action}
            onAnswer={(isAsked) => {
              setAsks(isAsked)
              begin(asked, isAsked)
            }}
            onCancel={close}
          />
        )}
        {dialog}
      </>
    ),
  }
}
