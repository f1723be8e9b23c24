import { randomBytes } from 'node:crypto'
import type { BrowserContext, Route } from 'playwright-core'
import { catalogue, type ProblemCode } from '../../../server/problems/catalogue.ts'
import { type FaultProxy, startProxy } from '../proxy.ts'

/**
 * How a browser finds the service: `normal`; `stopped` (connections are refused, open ones reset); `silent`
 * (requests leave, no answer comes); every answer late; or a problem in answer to every API request whose
 * path starts with `paths` (`/v1/`), with `Retry-After`.
 */
export type NetworkState =
  | 'normal'
  | 'stopped'
  | 'silent'
  | { slowBySeconds: number }
  | { answers: ProblemCode; retryAfterSeconds?: number; paths?: string }

/** The way from one browser context to the service, through a TCP proxy with its own origin. */
export class Network {
  readonly origin: string
  readonly #proxy: FaultProxy
  #state: NetworkState = 'normal'
  #route: { context: BrowserContext; handler(route: Route): Promise<void> } | undefined

  static async to(baseUrl: string): Promise<Network> {
    return new Network(await startProxy(baseUrl))
  }

  constructor(proxy: FaultProxy) {
    this.#proxy = proxy
    const url = new URL(proxy.url)
    // The name under which Chromium keeps the session cookie without TLS.
    url.hostname = 'localhost'
    this.origin = url.origin
  }

  /** The old state is removed last, so nothing slips through between two. */
  async set(context: BrowserContext, state: NetworkState): Promise<void> {
    const before = this.#route
    this.#route = undefined
    // Silent connections stay silent; a browser would wait for them forever.
    if (this.#state === 'silent') await this.#proxy.set('cut')
    this.#state = state
    if (state === 'stopped') await this.#proxy.set('refuse')
    else if (state === 'silent') await this.#proxy.set('hang')
    else if (state === 'normal') await this.#proxy.set('pass')
    else if ('slowBySeconds' in state) {
      await this.#proxy.set({ delayMilliseconds: state.slowBySeconds * 1_000 })
    } else {
      await this.#answerWith(context, state.answers, state.retryAfterSeconds, state.paths ?? '/v1/')
      await this.#proxy.set('pass')
    }
    await before?.context.unroute(`${this.origin}/**`, before.handler)
  }

  close(): Promise<void> {
    return this.#proxy.close()
  }

  async #answerWith(
    context: BrowserContext,
    code: ProblemCode,
    retryAfterSeconds: number | undefined,
    paths: string,
  ): Promise<void> {
    const { origin } = this
    const handler = (route: Route) => {
      const { pathname } = new URL(route.request().url())
      return pathname.startsWith(paths)
        ? route.fulfill(problemAnswer(origin, pathname, code, retryAfterSeconds))
        : route.fallback()
    }
    this.#route = { context, handler }
    await context.route(`${origin}/**`, handler)
  }
}

/** In the same form as the service's. */
function problemAnswer(origin: string, path: string, code: ProblemCode, retryAfterSeconds?: number) {
  const { status, title, remedy } = catalogue[code]
  const requestId = randomBytes(16).toString('base64url')
  const type = `${origin}/problems/${code}`
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'x-request-id': requestId,
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    body: JSON.stringify({ type, title, status, detail: remedy, instance: path, code, requestId }),
  }
}
