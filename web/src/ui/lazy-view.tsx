import { type ComponentType, useEffect, useState } from 'react'
import { NoAnswerError, retryDelayMilliseconds } from '../api/problem.ts'
import { FailureNote } from './failure.tsx'
import { Note } from './note.tsx'
import { pause } from './pause.ts'
import { hasLoaded, isAppThere, mayReloadFor } from './reload.ts'

/** A view that loads within this time is shown without a placeholder. */
const patienceMilliseconds = 400

/**
 * A view in a separate file. If that cannot be loaded, the app waits until the service answers and reloads
 * the page: there may be a newer version, and browsers do not request a failed module again. Where typed text
 * would be lost, the person decides when to reload.
 */
export function lazyView<Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name) {
  const part: Part = {
    name,
    View: undefined,
    async load() {
      part.View ??= (await load())[name]
      hasLoaded(name)
    },
  }
  /** The router waits for this before it shows the view. Never rejects. */
  const preload = () => Promise.race([part.load().catch(() => undefined), pause(patienceMilliseconds)])
  return Object.assign(() => <Lazy part={part} />, { preload, load: part.load })
}

interface Part {
  name: string
  View: ComponentType | undefined
  load(): Promise<void>
}

function Lazy({ part }: { part: Part }) {
  const state = useLoading(part)
  const { View } = part
  return View ? <View /> : <Waiting state={state} />
}

type State = 'waiting' | 'unanswered' | 'broken' | 'there'

function useLoading(part: Part): State {
  const [state, setState] = useState<State>(part.View ? 'there' : 'waiting')
  useEffect(() => {
    if (part.View) return undefined
    const left = new AbortController()
    void persist(part, left.signal, setState)
    return () => left.abort()
  }, [part])
  return state
}

async function persist(part: Part, signal: AbortSignal, onState: (state: State) => void): Promise<void> {
  for (let tries = 0; !signal.aborted; tries += 1) {
    try {
      await part.load()
      return onState('there')
    } catch (failure) {
      const isThere = await isAppThere()
      if (signal.aborted) return
      if (isThere && mayReloadFor(part.name)) return location.reload()
      onState(isThere ? 'broken' : 'unanswered')
      // It may be a bug in the view itself.
      if (isThere && tries === 0) reportError(failure)
      await pause(retryDelayMilliseconds(tries, failure), signal)
    }
  }
}

const noAnswer = new NoAnswerError('a part of the app does not come')

function Waiting({ state }: { state: State }) {
  return (
    <div className="stack" aria-busy={state === 'waiting'}>
      {state === 'unanswered' && <FailureNote failure={noAnswer} />}
      {state === 'broken' && <Broken />}
      <span className="skeleton" style={{ width: 220, height: 26 }} />
      <span className="skeleton" style={{ width: 420 }} />
    </div>
  )
}

/**
 * The service answers without this part of the app, and a reload did not help or has to wait for the person.
 */
function Broken() {
  return (
    <Note
      kind="warning"
      role="status"
      title="This page could not be loaded"
      lines={['Reload the page: a newer version may be available. Your orders are not affected.']}
      action={{ name: 'Reload the page', act: () => location.reload() }}
    />
  )
}
