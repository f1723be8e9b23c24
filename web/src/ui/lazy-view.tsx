import { type ComponentType, useEffect, useState } from 'react'
import { NoAnswerError, retryDelayMilliseconds } from '../api/problem.ts'
import { announce } from './announce.ts'
import { CrashView } from './crash.tsx'
import { describeFailure } from './describe.ts'
import { FailureNote } from './failure.tsx'
import { pause } from './pause.ts'
import { hasLoaded, isAppThere, mayReloadFor } from './reload.ts'

/** A view that loads within this time is shown without a placeholder. */
const patienceMilliseconds = 400

type Load<Name extends string, Props> = () => Promise<Record<Name, ComponentType<Props>>>

/**
 * A view in a separate file. If that cannot be loaded, the app waits until the service answers and reloads
 * the page: there may be a newer version, and browsers do not request a failed module again. Where typed text
 * would be lost, the person decides when to reload.
 */
export function lazyView<Name extends string>(name: Name, load: Load<Name, object>) {
  const view = lazy(name, load, Waiting)
  /** The router waits for this before it shows the view. Never rejects. */
  const preload = () => Promise.race([view.load().catch(() => undefined), pause(patienceMilliseconds)])
  return Object.assign(view, { preload })
}

const parts: (() => Promise<void>)[] = []

/** The same for a part of a page: its place stays empty until it is loaded. */
export function lazyPart<Name extends string, Props extends object>(name: Name, load: Load<Name, Props>) {
  const part = lazy(name, load, Announced)
  parts.push(part.load)
  return part
}

/** Loads the parts of all pages, and the views that are in the same file (vite.config.ts). */
export function loadParts(): void {
  for (const load of parts) load().catch(() => undefined)
}

function lazy<Name extends string, Props extends object>(
  name: Name,
  load: Load<Name, Props>,
  Absent: ComponentType<{ state: State }>,
) {
  let View: ComponentType<Props> | undefined
  const part: Part = {
    name,
    isThere: () => View !== undefined,
    async load() {
      View ??= (await load())[name]
      hasLoaded(name)
    },
  }
  function Lazy(props: Props) {
    const state = useLoading(part)
    return View ? <View {...props} /> : <Absent state={state} />
  }
  return Object.assign(Lazy, { load: part.load })
}

interface Part {
  name: string
  isThere(): boolean
  load(): Promise<void>
}

type State = 'waiting' | 'unanswered' | 'broken' | 'there'

function useLoading(part: Part): State {
  const [state, setState] = useState<State>(part.isThere() ? 'there' : 'waiting')
  const isMissing = state !== 'there'
  useEffect(() => {
    if (!isMissing) return undefined
    const left = new AbortController()
    void persist(part, left.signal, setState)
    return () => left.abort()
  }, [part, isMissing])
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

function Announced({ state }: { state: State }) {
  useEffect(() => {
    if (state === 'unanswered') announce(`${describeFailure(noAnswer).title}.`)
    if (state === 'broken') announce('This could not be loaded. Reload the page.')
  }, [state])
  return null
}

/** `broken`: the server lacks this part. A reload did not help, or would lose what the user typed. */
function Waiting({ state }: { state: State }) {
  if (state === 'broken') return <CrashView />
  return (
    <div className="stack" aria-busy={state === 'waiting'}>
      {state === 'unanswered' && <FailureNote failure={noAnswer} />}
      <span className="skeleton" style={{ width: 220, height: 26 }} />
      <span className="skeleton" style={{ width: 420 }} />
    </div>
  )
}
