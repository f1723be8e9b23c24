/**
 * What the modules of the web app find in a page and Node has not: to be called before they are imported. `answer` is
 * the service behind it.
 */
export function asPage(answer: (path: string, request: Request) => Response | Promise<Response>) {
  const page = new EventTarget()
  const told: unknown[] = []
  class Channel extends EventTarget {
    postMessage = (message: unknown) => told.push(message)
  }
  Object.assign(globalThis, {
    addEventListener: page.addEventListener.bind(page),
    removeEventListener: page.removeEventListener.bind(page),
    location: new URL('https://orders.example/'),
    BroadcastChannel: Channel,
    fetch: async (request: Request) => answer(new URL(request.url).pathname, request),
  })
  const { Request: NodeRequest } = globalThis
  // A page's requests are relative to its address.
  globalThis.Request = class extends NodeRequest {
    constructor(input: string | URL | Request, init?: RequestInit) {
      super(typeof input === 'string' ? new URL(input, 'https://orders.example/') : input, init)
    }
  }
  return {
    /** What was said to the other tabs. */
    told,
    happen: (name: 'pagehide' | 'pageshow', persisted: boolean) =>
      page.dispatchEvent(Object.assign(new Event(name), { persisted })),
  }
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
