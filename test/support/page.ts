import { before } from 'node:test'

type Service = (path: string, request: Request) => Response | Promise<Response>

/**
 * Provides what the web app's modules need from a page and Node does not have. Import it before them. All
 * files of a process share the page, the modules and their state.
 */
const page = new EventTarget()
/** Messages to the other tabs. */
export const told: unknown[] = []
let service: Service = () => answerWith(204)

class Channel extends EventTarget {
  postMessage = (message: unknown) => told.push(message)
}
// A page's requests are relative to its address.
class PageRequest extends Request {
  constructor(input: string | URL | Request, init?: RequestInit) {
    super(typeof input === 'string' ? new URL(input, 'https://orders.example/') : input, init)
  }
}
Object.assign(globalThis, {
  addEventListener: page.addEventListener.bind(page),
  removeEventListener: page.removeEventListener.bind(page),
  location: new URL('https://orders.example/'),
  BroadcastChannel: Channel,
  Request: PageRequest,
  fetch: async (request: Request) => service(new URL(request.url).pathname, request),
})
// Texts in the reader's language must not depend on the machine's.
Object.defineProperty(navigator, 'language', { value: 'en-US' })

/** Sets the service behind the page for the describe that calls this in its body. */
export function serviceIs(given: Service): void {
  before(() => {
    service = given
  })
}

export function happen(name: 'pagehide' | 'pageshow', persisted: boolean): void {
  page.dispatchEvent(Object.assign(new Event(name), { persisted }))
}

/** An answer as the service gives it. */
export function answerWith(status: number, body?: unknown, headers: Record<string, string> = {}): Response {
  if (status === 204) return new Response(null, { status, headers })
  return Response.json(body, { status, headers })
}

export function problemWith(status: number, code: string, headers: Record<string, string> = {}): Response {
  const problem = { type: '', title: code, status, detail: code, instance: '/', code, requestId: 'r' }
  return answerWith(status, problem, headers)
}
