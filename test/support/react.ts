import { registerHooks } from 'node:module'
import * as react from 'react'

/**
 * The states, refs and effects of the web app's components, where drawing.ts draws them without a browser.
 * A state stays until the page goes away.
 */
const ownReact = new URL('kept-react', import.meta.url).href
const source = `export * from 'react'; export { useEffect, useRef, useState } from '${import.meta.url}'`
registerHooks({
  resolve: (name, context, next) =>
    name === 'react' && context.parentURL?.includes('/web/src/')
      ? { url: ownReact, shortCircuit: true }
      : next(name, context),
  load: (url, context, next) =>
    url === ownReact ? { format: 'module', source, shortCircuit: true } : next(url, context),
})

interface Effect {
  dependencies?: readonly unknown[] | undefined
  run(): void
  cleanup?: (() => void) | undefined
}
/** By the place in the page and in the code. */
const kept = new Map<string, unknown>()
const drawnNow = new Set<string>()
const waiting: Effect[] = []

function useKept<Value>(first: () => Value): Value {
  const [, , , caller] = new Error().stack?.split('\n') ?? []
  const id = `${react.useId()} ${caller}`
  drawnNow.add(id)
  if (!kept.has(id)) kept.set(id, first())
  return kept.get(id) as Value
}

/** @public */
export function useRef<Value>(first: Value): { current: Value } {
  return useKept(() => ({ current: first }))
}

/** @public */
export function useState<Value>(first: Value | (() => Value)) {
  const value = useKept(() => ({ current: first instanceof Function ? first() : first }))
  const set = (next: Value | ((before: Value) => Value)) => {
    value.current = next instanceof Function ? next(value.current) : next
  }
  return [value.current, set] as const
}

/** @public */
export function useEffect(act: () => Effect['cleanup'], dependencies?: readonly unknown[]): void {
  const effect = useKept((): Effect => ({ run: () => undefined }))
  const { dependencies: last } = effect
  if (last && dependencies?.every((each, at) => Object.is(each, last[at]))) return
  effect.dependencies = dependencies
  effect.run = () => {
    effect.cleanup?.()
    effect.cleanup = act()
  }
  waiting.push(effect)
}

/** After everything is drawn: what is no longer there is forgotten. */
export function runEffects(): void {
  for (const [id, each] of kept) {
    if (drawnNow.has(id)) continue
    kept.delete(id)
    ;(each as Partial<Effect>).cleanup?.()
  }
  drawnNow.clear()
  for (const { run } of waiting.splice(0)) run()
}
