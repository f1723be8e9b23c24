import '../support/page.ts'
import { globSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { afterEach } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { ReactNode } from 'react'
import * as runtime from 'react/jsx-runtime'
import { transformWithOxc } from 'vite'
import { runEffects } from '../support/react.ts'

/**
 * Draws components of the web app without a browser. Import this before them. A dialog is drawn in its place.
 * After `drawn`, a handler may change what `drawnAgain` shows.
 */
const root = fileURLToPath(new URL('../../', import.meta.url))
const sources = new Map(
  await Promise.all(
    globSync('web/src/**/*.tsx', { cwd: root }).map(async (file) => {
      const text = file.endsWith('ui/modal.tsx')
        ? 'export const ModalDialog = ({ title, children }) => <section><h2>{title}</h2>{children}</section>'
        : readFileSync(`${root}${file}`, 'utf8')
      const { code } = await transformWithOxc(text, file, { sourcemap: false })
      return [pathToFileURL(`${root}${file}`).href, code] as const
    }),
  ),
)
registerHooks({
  resolve: (name, context, next) =>
    name === 'react/jsx-runtime' && sources.has(context.parentURL ?? '')
      ? { url: import.meta.url, shortCircuit: true }
      : next(name, context),
  load(url, context, next) {
    const source = url.endsWith('.css') ? '' : sources.get(url)
    return source === undefined ? next(url, context) : { format: 'module', source, shortCircuit: true }
  },
})
const { renderToStaticMarkup } = await import('react-dom/server')
const { QueryClientProvider } = await import('@tanstack/react-query')
const { createMemoryHistory, createRootRoute, createRouter, RouterContextProvider } = await import(
  '@tanstack/react-router'
)
const { queries } = await import('../../web/src/api/queries.ts')

type Props = Record<string, unknown>
/** Those of the app's components that were drawn last. */
let elements: Props[] = []
/** The name or id of what has the focus. */
export let focused: string | undefined
let page: () => string[] = () => []
/** Where the page is. */
export let address = ''
const focusable = (name: string): object => ({
  focus: () => {
    focused = name
  },
  setSelectionRange: () => undefined,
  querySelector: () => focusable(name),
})
Object.assign(document, { getElementById: focusable, body: null })
/** Where something is typed. */
export class TextArea {}
Object.assign(globalThis, { HTMLTextAreaElement: TextArea, requestAnimationFrame: queueMicrotask })

const recorded =
  (make: typeof runtime.jsx): typeof runtime.jsx =>
  (type, props, key) => {
    elements.push(props as Props)
    return make(type, props, key)
  }
export const jsx = recorded(runtime.jsx)
/** @public */
export const jsxs = recorded(runtime.jsxs)
/** @public */
export const { Fragment } = runtime

/**
 * What the element shows at an address, each part of the page on a line: `[Approve]` is a button or a link,
 * `(Approve)` a disabled button, `read-only` a field that takes nothing, and `¶` an empty line.
 */
export function drawn(element: ReactNode, at = '/'): string[] {
  leave()
  const history = createMemoryHistory({ initialEntries: [at] })
  const router = createRouter({ routeTree: createRootRoute(), history })
  const navigate = (to: Parameters<typeof router.buildLocation>[0]) => {
    address = router.buildLocation(to).href
  }
  Object.assign(router, { navigate })
  address = at
  const children = runtime.jsx(RouterContextProvider, { router, children: element })
  page = () => linesOf(runtime.jsx(QueryClientProvider, { client: queries, children }))
  return drawnAgain()
}

export function drawnAgain(): string[] {
  elements = []
  const lines = page()
  const first = elements.find(({ autoFocus }) => autoFocus)
  if (first) focused ??= nameOf(first.children)
  for (const { ref, children } of elements) {
    if (ref instanceof Object) Object.assign(ref, { current: focusable(nameOf(children)) })
  }
  runEffects()
  return lines
}

afterEach(leave)

/** The page goes away. */
export function leave(): void {
  runEffects()
  focused = undefined
}

/** The handler of the innermost element that has one, and this name. */
export function handler(kind: string, name?: string): (...given: unknown[]) => unknown {
  const found = elements.findLast(
    (props) => props[kind] instanceof Function && (name === undefined || nameOf(props.children) === name),
  )
  return found?.[kind] as () => unknown
}
export const press = (name: string) => handler('onPress', name)()

const nameOf = (children: unknown) => linesOf(children as ReactNode).join(' ')

function linesOf(element: ReactNode): string[] {
  return renderToStaticMarkup(element)
    .replaceAll(/<button[^>]*(?:aria-disabled="true"|disabled="")[^>]*>(.*?)<\/button>/g, '\n($1)\n')
    .replaceAll(/<textarea[^>]* readonly=""[^>]*>/gi, '\nread-only\n')
    .replaceAll(/<(button|a)\b[^>]*>(.*?)<\/\1>/g, '\n[$2]\n')
    .replaceAll(/<p\b[^>]*><\/p>/g, '\n¶\n')
    .replaceAll(/<\/?(?:p|li|div|h2|d[dtl]|t[dhr]|section|strong|option|label|legend)\b[^>]*>/g, '\n')
    .replaceAll(/<[^>]*>|[\u2066-\u2069]/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
