import './on-their-way.css'
import { Link, useNavigate, useRouter } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { useUser } from '../../auth/session.ts'
import { describeFailure } from '../../ui/describe.ts'
import { formatCount } from '../../ui/format.ts'
import { Key } from '../../ui/key.tsx'
import { Note } from '../../ui/note.tsx'
import { isBusy, useShortcut } from '../../ui/shortcuts.ts'
import { deeds } from './actions.ts'
import { isWorthTrying } from './decisions.ts'
import { nameOfEntry, toldOf } from './entry-words.ts'
import type { Entry } from './outbox.ts'
import { outbox, takeBack } from './sending.ts'

/**
 * Decisions that were made and have no good end yet, on every page: the last that can be taken back, what cannot be sent
 * at the moment, and each that did not happen.
 */
export function OnTheirWay() {
  const { id } = useUser()
  const entries = outbox.use()
  const held = entries.filter(({ state }) => state.kind === 'held')
  const last = held.at(-1)
  const undo = useUndo(last !== undefined)
  useEffect(() => outbox.takeOver(id), [id])
  const told = entries.filter(({ state }) => state.kind === 'failed' || state.kind === 'left')
  return (
    <section className="on-their-way no-print" aria-label="Your decisions">
      {/* Always there: screen readers watch it for changes. */}
      <div role="status" className="stack gap-2">
        {told.map((entry) => (
          <Told key={entry.decision.idempotencyKey} entry={entry} />
        ))}
        <Trouble entries={entries} />
        {last && <span className="visually-hidden">{heldInWords(last)}</span>}
      </div>
      {last?.state.kind === 'held' && (
        <div className="held row row-between">
          <p>
            <strong>{deeds[last.deed].name}</strong> {nameOfEntry(last)}
            <span className="soft" aria-hidden="true">
              {' '}
              in <Countdown key={last.decision.idempotencyKey} until={last.state.until} />
              {held.length > 1 && `, ${formatCount(held.length - 1)} more before it`}
            </span>
          </p>
          <Button className="button button-small" onPress={undo}>
            Undo
            <Key name="u" />
          </Button>
        </div>
      )}
    </section>
  )
}

const heldInWords = (entry: Entry) =>
  `${deeds[entry.deed].name} ${nameOfEntry(entry)} in five seconds. Press u to undo it.`

/** Takes the last one back; in a review, one then looks at it again. */
function useUndo(isAnyHeld: boolean): () => void {
  const navigate = useNavigate()
  const router = useRouter()
  const undo = useCallback(() => {
    const id = takeBack()
    if (id === undefined || router.latestLocation.pathname !== '/orders/review') return
    void navigate({
      to: '/orders/review',
      search: (before) => ({ ...before, at: id }),
      replace: true,
    })
  }, [navigate, router])
  useShortcut('u', isAnyHeld ? (event) => event?.repeat || undo() : undefined)
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isUndo = event.key === 'z' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey
      if (!isUndo || !isAnyHeld || event.repeat || isBusy(event.target)) return
      event.preventDefault()
      undo()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [undo, isAnyHeld])
  return undo
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
  const count = retrying.length === 1 ? 'One decision is' : `${formatCount(retrying.length)} decisions are`
  return <Note kind="warning" title={title} lines={[`${count} not sent yet. ${detail}`]} />
}

function Told({ entry }: { entry: Entry }) {
  const { userName } = useUser()
  const { title, detail } = toldOf(entry, userName)
  const { id, idempotencyKey } = entry.decision
  const { state } = entry
  const mayTry = state.kind === 'left' || (state.kind === 'failed' && isWorthTrying(state.progress))
  return (
    <Note kind="warning" title={title} lines={[detail]}>
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
