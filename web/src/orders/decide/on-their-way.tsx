import './on-their-way.css'
import { Link, useNavigate, useRouter } from '@tanstack/react-router'
import { useCallback, useEffect } from 'react'
import { Button } from 'react-aria-components/Button'
import { isolated } from '../../../../rules/isolate.ts'
import { useUser } from '../../auth/session.ts'
import { keepFocus } from '../../ui/focus.ts'
import { formatCount, formatTotal, shortName } from '../../ui/format.ts'
import { Key } from '../../ui/key.tsx'
import { useNow } from '../../ui/moment.tsx'
import { Note } from '../../ui/note.tsx'
import { online } from '../../ui/online.ts'
import { isBusy, isUndo, useShortcut } from '../../ui/shortcuts.ts'
import { actions, doneWord } from './actions.ts'
import { isWorthTrying } from './decisions.ts'
import { LeftByOthers } from './left-by-others.tsx'
import { type Entry, isHeld, isOpen, mayHaveHappened } from './outbox.ts'
import { outbox, takeUp, undo } from './sending.ts'
import { SignOutQuestion } from './sign-out.tsx'
import { WhyNot } from './why-not.tsx'
import { delayInWords } from './words.ts'

/**
 * The decisions that have not succeeded yet, on every page: the last one that can be undone, whatever keeps
 * them from being sent, and each that failed.
 */
export function OnTheirWay() {
  const { id } = useUser()
  const entries = outbox.use()
  const open = entries.filter(isOpen)
  const delay = delayInWords(open, online.use())
  const last = open.findLast(isHeld)
  useEffect(() => takeUp(id), [id])
  return (
    <section className="on-their-way no-print" aria-label="Your decisions">
      {/* Always rendered, because screen readers watch it for changes. */}
      <div role="status" className="stack gap-2">
        <LeftByOthers />
        {entries
          .filter((entry) => !isOpen(entry))
          .map((entry) => (
            <NotDecided key={entry.decision.idempotencyKey} entry={entry} />
          ))}
        <span className="visually-hidden">
          {delay ?? (last && `${nameOf(last, 'long')} in five seconds. Press u to undo it.`)}
        </span>
      </div>
      <Held open={open} delay={delay} />
      <SignOutQuestion />
    </section>
  )
}

interface HeldProps {
  open: readonly Entry[]
  delay: string | undefined
}

function Held({ open, delay }: HeldProps) {
  const held = open.filter(isHeld)
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
  const until = last.state.kind === 'held' ? last.state.until : now
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
function nameOf({ action, order }: Entry, form: 'short' | 'long'): string {
  const doing = actions[action].doing.replace(' …', '')
  const [name, total] = [isolated(shortName(order.customer, 40)), formatTotal(order.total)]
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

function NotDecided({ entry }: { entry: Entry }) {
  const { action, state } = entry
  if (state.kind !== 'failed') return null
  const { id, idempotencyKey } = entry.decision
  const isUnclear = mayHaveHappened(entry)
  const title = `${isUnclear ? 'Perhaps not' : 'Not'} ${doneWord(action)}: ${nameOf(entry, 'short')}`
  return (
    <Note kind="warning" title={title}>
      <p>
        {isUnclear ? (
          'There was no answer. You can safely try again: nothing happens twice.'
        ) : (
          <WhyNot progress={state.progress} action={action} />
        )}
      </p>
      <div className="row">
        {isWorthTrying(state.progress) && (
          <Button className="button button-small" onPress={() => void outbox.send(idempotencyKey)}>
            Try again
          </Button>
        )}
        <Link to="/orders/$id" params={{ id }} className="button button-small">
          Open the order
        </Link>
        <Button
          className="button button-small"
          onPress={() => {
            outbox.dismiss(idempotencyKey)
            keepFocus()
          }}
        >
          Dismiss
        </Button>
      </div>
    </Note>
  )
}
