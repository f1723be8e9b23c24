import './on-their-way.css'
import { Link, useLocation, useNavigate, useRouter } from '@tanstack/react-router'
import { useCallback, useEffect } from 'react'
import { Button } from 'react-aria-components/Button'
import { isolated } from '../../../../rules/isolate.ts'
import { useUser } from '../../auth/session.ts'
import { countInWords, delayInWords, unsent } from '../../auth/unsent.ts'
import { keepFocus } from '../../ui/focus.ts'
import { formatCount, formatTotal, shortName } from '../../ui/format.ts'
import { Key } from '../../ui/key.tsx'
import { useNow } from '../../ui/moment.tsx'
import { Note } from '../../ui/note.tsx'
import { online } from '../../ui/online.ts'
import { isBusy, isUndo, useShortcut } from '../../ui/shortcuts.ts'
import { canUndo, failureOf, isOpen } from '../outbox.ts'
import { actions, doneWord } from './actions.ts'
import { isWorthTrying } from './decisions.ts'
import { type Entry, outbox, sendAgain, takeUp, undo } from './sending.ts'
import { WhyNot } from './why-not.tsx'
import { decisionsInWords } from './words.ts'

/**
 * The decisions that have not succeeded yet, on every page: the last one that can be undone, whatever keeps
 * them from being sent, and each that failed.
 */
export function OnTheirWay() {
  const { id } = useUser()
  const { steps } = outbox.snapshot.use()
  const open = steps.filter(isOpen)
  const last = open.findLast(canUndo)
  const delay = useDelay(open)
  useEffect(() => takeUp(id), [id])
  return (
    <section className="on-their-way no-print" aria-label="Your decisions">
      {/* Always rendered, because screen readers watch it for changes. */}
      <div role="status" className="stack gap-2">
        {steps.map((entry) => (
          <NotDecided key={entry.sent.idempotencyKey} entry={entry} />
        ))}
        <span className="visually-hidden">
          {delay ?? (last && `${nameOf(last, 'long')} in five seconds. Press u to undo it.`)}
        </span>
      </div>
      <Creating />
      <Held open={open} delay={delay} />
    </section>
  )
}

/** How far a sheet of orders is, on every page but its own. */
function Creating() {
  const { parts } = unsent.use()
  const isOnline = online.use()
  const { pathname } = useLocation()
  const part = parts.find(({ noun, count }) => noun === 'order' && count > 1)
  if (part === undefined || pathname === '/orders/new/sheet') return null
  const delay = delayInWords(part, isOnline)
  return (
    <div className="held row row-between">
      <p>
        Creating orders: {countInWords(part.count, 'order')} to go. {delay}
      </p>
      <Link to="/orders/new/sheet" className="button button-small">
        Show the sheet
      </Link>
    </div>
  )
}

/** The reason why these decisions are not sent yet, if any. */
function useDelay(open: readonly Entry[]): string | undefined {
  const failure = open.map(({ progress }) => failureOf(progress)).find((each) => each !== undefined)
  const delay = delayInWords({ count: open.length, failure }, online.use())
  return delay && `${decisionsInWords(open.length)} not sent. ${delay}`
}

interface HeldProps {
  open: readonly Entry[]
  delay: string | undefined
}

function Held({ open, delay }: HeldProps) {
  const held = open.filter(canUndo)
  const last = held.at(-1)
  const undoNow = useUndo(open.length > 0)
  if (delay === undefined && last === undefined) return null
  return (
    <div className="held row row-between">
      <p>{delay ?? (last && <Counting last={last} count={held.length} />)}</p>
      {last && (
        <div className="row nowrap">
          <Button className="button button-small" onPress={() => undoNow('last')}>
            Undo
            <Key name="u" />
          </Button>
          {held.length > 1 && (
            <Button className="button button-small" onPress={() => undoNow('all')}>
              Undo all
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

const tickMilliseconds = 200

/** Such as "Approving Acme (595.06) in 5 s · 5 more queued". */
function Counting({ last, count }: { last: Entry; count: number }) {
  const now = useNow(tickMilliseconds)
  const until = last.progress.kind === 'held' ? last.progress.until : now
  return (
    <>
      {nameOf(last, 'long')}
      <span className="soft" aria-hidden="true">
        {` in ${Math.max(0, Math.ceil((until - now) / 1000))}\u00a0s`}
        {count > 1 && ` · ${formatCount(count - 1)} more queued`}
      </span>
    </>
  )
}

/** Such as "Acme, 1,234.00", or "Approving Acme (1,234.00)". */
function nameOf({ subject }: Entry, form: 'short' | 'long'): string {
  const doing = actions[subject.action].doing.replace(' …', '')
  const [name, total] = [isolated(shortName(subject.customer, 40)), formatTotal(subject.total)]
  return form === 'short' ? `${name}, ${total}` : `${doing} ${name} (${total})`
}

/** A review goes back to the order whose decision was undone, or to the first of them. */
function useUndo(isAnyOpen: boolean): (which: 'last' | 'all') => void {
  const navigate = useNavigate()
  const router = useRouter()
  const undoNow = useCallback(
    (which: 'last' | 'all') => {
      const id = undo(which)
      keepFocus()
      if (id === undefined || router.latestLocation.pathname !== '/orders/review') return
      void navigate({ to: '/orders/review', search: (before) => ({ ...before, at: id }), replace: true })
    },
    [navigate, router],
  )
  useShortcut('u', isAnyOpen ? (event) => event?.repeat || undoNow('last') : undefined)
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!isUndo(event) || !isAnyOpen || event.repeat || isBusy(event.target)) return
      event.preventDefault()
      undoNow('last')
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [undoNow, isAnyOpen])
  return undoNow
}

/** A decision that failed or may have failed, until the person dismisses it. */
function NotDecided({ entry }: { entry: Entry }) {
  const { progress } = entry
  if (progress.kind !== 'refused' && progress.kind !== 'unclear') return null
  const { id, action } = entry.subject
  const isUnclear = progress.kind === 'unclear'
  const title = `${isUnclear ? 'Perhaps not' : 'Not'} ${doneWord(action)}: ${nameOf(entry, 'short')}`
  return (
    <Note kind="warning" title={title}>
      <p>
        {isUnclear ? (
          'There was no answer. You can safely try again: nothing happens twice.'
        ) : (
          <WhyNot progress={progress} action={action} />
        )}
      </p>
      <div className="row">
        {isWorthTrying(progress) && (
          <Button className="button button-small" onPress={() => sendAgain(entry)}>
            Try again
          </Button>
        )}
        <Link to="/orders/$id" params={{ id }} className="button button-small">
          Open the order
        </Link>
        <Button
          className="button button-small"
          onPress={() => {
            outbox.remove((step) => step === entry)
            keepFocus()
          }}
        >
          Dismiss
        </Button>
      </div>
    </Note>
  )
}
