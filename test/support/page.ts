import './react.ts'
import { before } from 'node:test'

type Service = (path: string, request: Request) => Response | Promise<Response>

/**
 * Provides the parts of a page that the web app's modules need and Node lacks. Import it before them. All
 * files of a process share the page, the modules and their state.
 */
const page = new EventTarget()
/** Capturing listeners run first, whatever their order. Node's EventTarget does not do that. */
const capturing = new EventTarget()
const targetOf = (options?: boolean | AddEventListenerOptions) =>
  typeof options === 'object' && options.capture ? capturing : page
/** Messages to the other tabs. */
export const told: unknown[] = []
let service: Service = () => answerWith(204)

const channels = new Map<string, EventTarget>()
class Channel extends EventTarget {
  constructor(name: string) {
    super()
    channels.set(name, this)
  }
  postMessage = (message: unknown) => told.push(message)
}
// A page's requests are relative to its address.
/** In Node, the signal of a request that nothing holds may never abort. */
const requests: Request[] = []
class PageRequest extends Request {
  constructor(input: string | URL | Request, init?: RequestInit) {
    super(typeof input === 'string' ? new URL(input, 'https://orders.example/') : input, init)
    requests.push(this)
  }
}
Object.assign(globalThis, {
  addEventListener: (...heard: Parameters<EventTarget['addEventListener']>) =>
    targetOf(heard[2]).addEventListener(...heard),
  removeEventListener: page.removeEventListener.bind(page),
  location: new URL('https://orders.example/'),
  BroadcastChannel: Channel,
  Request: PageRequest,
  fetch: async (input: string | Request, init?: RequestInit) => {
    const request = new PageRequest(input, init)
    return service(new URL(request.url).pathname, request)
  },
  // Nothing has the focus.
  document: { activeElement: null, querySelector: () => null, addEventListener: () => undefined },
  Element: class {},
})
// Texts in the reader's language must not depend on the machine.
Object.defineProperty(navigator, 'language', { value: 'en-US' })
goOffline(false)

/** Sets the service behind the page for the describe that calls this in its body. */
export function serviceIs(given: Service): void {
  before(() => {
    service = given
  })
}

export function happen(name: 'pagehide' | 'pageshow', persisted: boolean): void {
  for (const target of [capturing, page]) target.dispatchEvent(Object.assign(new Event(name), { persisted }))
}

/** Whether the page took the key, so that the browser does nothing with it. */
export function pressKey(key: string, facts: object = {}): boolean {
  return !page.dispatchEvent(Object.assign(new Event('keydown', { cancelable: true }), { key, ...facts }))
}

export function goOffline(isOffline: boolean): void {
  Object.defineProperty(navigator, 'onLine', { value: !isOffline, configurable: true })
  page.dispatchEvent(new Event(isOffline ? 'offline' : 'online'))
}

/** Whether the browser would ask before the page goes away. */
export function asksBeforeLeaving(): boolean {
  return !page.dispatchEvent(new Event('beforeunload', { cancelable: true }))
}

/** Lets everything happen that waits only for its turn. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
}

/** Another tab of this browser says something. */
export function hear(channel: string, data: unknown): void {
  channels.get(channel)?.dispatchEvent(new MessageEvent('message', { data }))
}

/** An answer as the service gives it. */
export function answerWith(status: number, body?: unknown, headers: Record<string, string> = {}): Response {
  if (status === 204) return new Response(null, { status, headers })
  return Response.json(body, { status, headers })
}

export function problemWith(
  status: number,
  code: string,
  headers: Record<string, string> = {},
  members: object = {},
): Response {
  const problem = {
    type: '',
    title: code,
    status,
    detail: code,
    instance: '/',
    code,
    requestId: 'r',
    ...members,
  }
  return answerWith(status, problem, headers)
}
