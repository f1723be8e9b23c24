import './on-their-way.css'
import { Link, useNavigate, useRouter } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { useUser } from '../../auth/session.ts'
import { describeFailure } from '../../ui/describe.ts'
import { formatCount, formatTotal, shortName } from '../../ui/format.ts'
import { isolated } from '../../ui/isolate.ts'
import { Key } from '../../ui/key.tsx'
import { Note } from '../../ui/note.tsx'
import { isBusy, useShortcut } from '../../ui/shortcuts.ts'
import { shortNumber } from '../identity.ts'
import { actions, doneWord } from './actions.ts'
import { isWorthTrying } from './decisions.ts'
import { type Entry, isOver, mayHaveHappened } from './outbox.ts'
import { outbox, undo } from './sending.ts'
import { WhyNot } from './why-not.tsx'

/**
 * The decisions without a good end yet, on every page: the last one that can be undone, what cannot be sent
 * at the moment, and each that did not happen.
 */
export function OnTheirWay() {
  const { id } = useUser()
  const entries = outbox.use()
  const held = entries.filter(({ state }) => state.kind === 'held')
  const last = held.at(-1)
  const undoLast = useUndo(last !== undefined)
  useEffect(() => outbox.takeOver(id), [id])
  return (
    <section className="on-their-way no-print" aria-label="Your decisions">
      {/* Always there: screen readers watch it for changes. */}
      <div role="status" className="stack gap-2">
        {entries.filter(isOver).map((entry) => (
          <NotDecided key={entry.decision.idempotencyKey} entry={entry} />
        ))}
        <Trouble entries={entries} />
        {last && (
          <span className="visually-hidden">{nameOf(last, 'long')} in five seconds. Press u to undo it.</span>
        )}
      </div>
      {last?.state.kind === 'held' && (
        <div className="held row row-between">
          <p>
            {nameOf(last, 'long')}
            <span className="soft" aria-hidden="true">
              {' '}
              in <Countdown key={last.decision.idempotencyKey} until={last.state.until} />
              {held.length > 1 && ` · ${formatCount(held.length - 1)} more queued`}
            </span>
          </p>
          <Button className="button button-small" onPress={undoLast}>
            Undo
            <Key name="u" />
          </Button>
        </div>
      )}
    </section>
  )
}

/** As "Acme, 1,234.00", or "Approving Acme (1,234.00)". */
function nameOf({ action, order, decision }: Entry, form: 'short' | 'long'): string {
  const doing = actions[action].doing.replace(' …', '')
  if (order === undefined) {
    const name = `order ${shortNumber(decision.id)}`
    return form === 'short' ? name : `${doing} ${name}`
  }
  const [name, total] = [isolated(shortName(order.customer, 40)), formatTotal(order.total)]
  return form === 'short' ? `${name}, ${total}` : `${doing} ${name} (${total})`
}

/** Undoes the last one. A review goes back to its order. */
function useUndo(isAnyHeld: boolean): () => void {
  const navigate = useNavigate()
  const router = useRouter()
  const undoLast = useCallback(() => {
    const id = undo()
    if (id === undefined || router.latestLocation.pathname !== '/orders/review') return
    void navigate({ to: '/orders/review', search: (before) => ({ ...before, at: id }), replace: true })
  }, [navigate, router])
  useShortcut('u', isAnyHeld ? (event) => event?.repeat || undoLast() : undefined)
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isUndo = event.key === 'z' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey
      if (!isUndo || !isAnyHeld || event.repeat || isBusy(event.target)) return
      event.preventDefault()
      undoLast()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [undoLast, isAnyHeld])
  return undoLast
}

const tickMilliseconds = 200

function Countdown({ until }: { until: number }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMilliseconds)
    return () => clearInterval(timer)
  }, [])
  return `${Math.max(0, Math.ceil((until - now) / 1000))}\u00a0s`
}

/** While nothing gets through. */
function Trouble({ entries }: { entries: readonly Entry[] }) {
  const retrying = entries.flatMap(({ state }) =>
    state.kind === 'under-way' && state.progress.kind === 'retrying' ? [state.progress.failure] : [],
  )
  if (retrying.length === 0) return null
  const { title, detail } = describeFailure(retrying[0])
  const count = retrying.length === 1 ? 'One decision' : `${formatCount(retrying.length)} decisions`
  return <Note kind="warning" title={title} lines={[`${count} not sent. ${detail}`]} />
}

function NotDecided({ entry }: { entry: Entry }) {
  const { action, state } = entry
  const { id, idempotencyKey } = entry.decision
  const isUnclear = mayHaveHappened(state)
  const mayTry = state.kind === 'left' || (state.kind === 'failed' && isWorthTrying(state.progress))
  const title = `${isUnclear ? 'Perhaps not' : 'Not'} ${doneWord(action)}: ${nameOf(entry, 'short')}`
  return (
    <Note kind="warning" title={title}>
      <p>
        {isUnclear
          ? 'There was no answer. You can safely try again: nothing happens twice.'
          : state.kind === 'failed' && <WhyNot progress={state.progress} action={action} />}
      </p>
      <div className="row">
        {mayTry && (
          <Button className="button button-small" onPress={() => outbox.send(idempotencyKey)}>
            Try again
          </Button>
        )}
        <Link to="/orders/$id" params={{ id }} className="button button-small">
          Open the order
        </Link>
        <Button className="button button-small" onPress={() => outbox.dismiss(idempotencyKey)}>
          Dismiss
        </Button>
      </div>
    </Note>
  )
}
