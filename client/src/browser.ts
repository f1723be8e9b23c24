import { type Client, type Connection, clientOf, sender } from './client.ts'
import { refusalOf } from './problem.ts'
import type { components } from './schema.ts'

type Schemas = components['schemas']

const antiforgeryHeader = 'x-xsrf-token'
const safeMethods = ['GET', 'HEAD', 'OPTIONS']
/** These sign in with what is in their body; they need no antiforgery token. */
const publicPaths = ['/v1/auth/session']

/** Whether the request signs in, and so says nothing about the session that there is. */
export function isPublic(request: Request): boolean {
  return publicPaths.includes(new URL(request.url).pathname)
}

export function isSafe(request: Request): boolean {
  return safeMethods.includes(request.method)
}

export interface BrowserClient extends Client {
  /** Throws `ProblemError`: `invalid-credentials`, `too-many-attempts`. */
  signIn(credentials: Schemas['LoginSessionCommand']): Promise<void>
  signOut(): Promise<void>
  /**
   * A token of this browser, fetched once. Fetched before a sign-in, it stays good until the sign-out
   * (section 4 of the contract); a refused one is fetched anew, once for each request.
   */
  fetchAntiforgeryToken(): Promise<string>
  forgetAntiforgeryToken(): void
}

/** A session by cookie, which the browser keeps; elsewhere `fetch` has to. */
export function browserClient(connection: Connection = {}): BrowserClient {
  const exchange = sender(connection)
  const client = clientOf(connection.baseUrl ?? '', send)
  let token: Promise<string> | undefined

  function fetchAntiforgeryToken(): Promise<string> {
    token ??= client
      .GET('/v1/auth/csrf')
      .then(({ data }) => data.token)
      .catch((failure) => {
        token = undefined
        throw failure
      })
    return token
  }

  function forgetAntiforgeryToken(): void {
    token = undefined
  }

  async function send(request: Request): Promise<Response> {
    if (isSafe(request) || isPublic(request)) return exchange(request)
    const again = request.clone()
    request.headers.set(antiforgeryHeader, await fetchAntiforgeryToken())
    const answer = await exchange(request)
    const code = await refusalOf(answer, 403)
    if (code !== 'csrf-token-missing' && code !== 'csrf-token-invalid') return answer
    forgetAntiforgeryToken()
    again.headers.set(antiforgeryHeader, await fetchAntiforgeryToken())
    return exchange(again)
  }

  return {
    ...client,
    fetchAntiforgeryToken,
    forgetAntiforgeryToken,
    async signIn(credentials) {
      await client.POST('/v1/auth/session', { body: credentials })
    },
    async signOut() {
      await client.POST('/v1/auth/session/logout')
      forgetAntiforgeryToken()
    },
  }
}
