import { type Connection, sender } from './calls.ts'
import { type Client, clientOf } from './client.ts'
import { refusalOf } from './problem.ts'
import type { components } from './schema.ts'

type Schemas = components['schemas']

const antiforgeryHeader = 'x-xsrf-token'
const safeMethods = ['GET', 'HEAD', 'OPTIONS']
/**
 * Whether the request signs in. It needs no antiforgery token, and its answer says nothing about the session.
 */
export function isPublic(request: Request): boolean {
  return /^\/v1\/auth\/session(?:\/passkey(?:\/options)?)?$/.test(new URL(request.url).pathname)
}

export function isSafe(request: Request): boolean {
  return safeMethods.includes(request.method)
}

type Touch = (
  options: Schemas['PasskeyRequestOptions'],
) => Promise<Schemas['PasskeySignInCommand']['credential']>

/**
 * Throws a `DOMException` unless the challenge says what it is for. A touch over anything else, such as the
 * root of a tree, could be somebody's approval.
 */
export function requirePurpose(challenge: string): void {
  const text = atob(challenge.replaceAll('-', '+').replaceAll('_', '/'))
  if (!/^countersign:[a-z-]+:\d{13}\.[\w-]{22}\.[\w-]{43}$/.test(text)) {
    throw new DOMException('This challenge does not say what it is for.', 'DataError')
  }
}

export interface BrowserClient extends Client {
  /** Throws `ProblemError`: `invalid-credentials`, `too-many-attempts`. */
  signIn(credentials: Schemas['LoginSessionCommand']): Promise<void>
  /**
   * `touch` asks the authenticator: `navigator.credentials.get`, as JSON. Throws a `DOMException` without
   * asking if the touch could sign anything else, and `ProblemError` like `signIn`.
   */
  signInByPasskey(touch: Touch): Promise<void>
  signOut(): Promise<void>
  /**
   * The token of this browser, fetched once. It stays valid from before a sign-in until the sign-out (section
   * 4 of the contract). A refused token is fetched again, once for each request.
   */
  fetchAntiforgeryToken(): Promise<string>
  forgetAntiforgeryToken(): void
}

/** Signs in for a session cookie, which the browser keeps. Elsewhere `fetch` must keep it. */
export function browserClient(connection: Connection = {}): BrowserClient {
  const exchange = sender(connection)
  const client = clientOf(connection, send)
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
    async signInByPasskey(touch) {
      const { data } = await client.POST('/v1/auth/session/passkey/options')
      requirePurpose(data.challenge)
      await client.POST('/v1/auth/session/passkey', { body: { credential: await touch(data) } })
    },
    async signOut() {
      await client.POST('/v1/auth/session/logout')
      forgetAntiforgeryToken()
    },
  }
}
