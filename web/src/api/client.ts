import createClient from 'openapi-fetch'
import { isAskedFor } from '../ui/activity.ts'
import { NoAnswerError, ProblemError, readFailure } from './problem.ts'
import type { paths } from './schema.ts'

/** A request without an answer for so long counts as failed. */
const answerLimitMilliseconds = 30_000
const antiforgeryHeader = 'x-xsrf-token'
/** Nobody asked for this: the service does not count it as use of the session (section 4 of the contract). */
export const inBackground = ['background', '?1'] as const
const safeMethods = ['GET', 'HEAD', 'OPTIONS']
/** These sign in with what is in their body; they need no antiforgery token. */
const publicPaths = ['/v1/auth/session']

/** What the client tells the session (auth/session.ts). */
export interface Listener {
  /** A number that changes whenever another person, or nobody, is signed in. */
  turn(): number
  /** Every answer, before anybody else reads it; a 401 means that the service knows no session. `asked`: then. */
  onAnswer(answer: Response, asked: number): void
}
let listener: Listener = { turn: () => 0, onAnswer: () => undefined }

export function listenToAnswers(next: Listener): void {
  listener = next
}

let antiforgeryToken: Promise<string> | undefined

/**
 * A token of this browser, fetched once. Fetched before a sign-in, it stays good until the sign-out (section 4 of the
 * contract); a refused one is fetched anew, once for each request.
 */
export function fetchAntiforgeryToken(): Promise<string> {
  antiforgeryToken ??= get('/v1/auth/csrf')
    .then(({ token }) => token)
    .catch((failure) => {
      antiforgeryToken = undefined
      throw failure
    })
  return antiforgeryToken
}

export function forgetAntiforgeryToken(): void {
  antiforgeryToken = undefined
}

async function get(path: '/v1/auth/csrf'): Promise<{ token: string }> {
  return answerOf(client.GET(path))
}

async function send(request: Request): Promise<Response> {
  if (safeMethods.includes(request.method) || isPublic(request)) return exchange(request)
  const again = request.clone()
  request.headers.set(antiforgeryHeader, await fetchAntiforgeryToken())
  const answer = await exchange(request)
  if (!(await isAntiforgeryRefusal(answer))) return answer
  forgetAntiforgeryToken()
  again.headers.set(antiforgeryHeader, await fetchAntiforgeryToken())
  return exchange(again)
}

async function isAntiforgeryRefusal(answer: Response): Promise<boolean> {
  if (answer.status !== 403) return false
  const body: unknown = await answer
    .clone()
    .json()
    .catch(() => undefined)
  const code = (body as { code?: unknown } | undefined)?.code
  return code === 'csrf-token-missing' || code === 'csrf-token-invalid'
}

async function exchange(request: Request): Promise<Response> {
  const asked = listener.turn()
  // Tries again, looks after the window has been away, what other tabs tell of: none keeps a session alive.
  if (safeMethods.includes(request.method) && !isAskedFor()) request.headers.set(...inBackground)
  // What is asked for in another form than JSON is a list as a whole, and takes as long as it takes.
  const isWhole = request.headers.has('accept')
  const limits = isWhole ? [] : [AbortSignal.timeout(answerLimitMilliseconds)]
  const signal = AbortSignal.any([request.signal, ...limits])
  try {
    const answer = await fetch(request, { signal })
    // A refused sign-in says nothing about a session.
    if (!isPublic(request) || answer.ok) listener.onAnswer(answer, asked)
    return answer
  } catch (failure) {
    // Given up by the caller, because its view went away: not a failure of the service.
    if (request.signal.aborted) throw failure
    throw new NoAnswerError('no answer', { cause: failure })
  }
}

function isPublic(request: Request): boolean {
  return publicPaths.includes(new URL(request.url).pathname)
}

/** The typed client of the service that served this page. Use it through `answerOf`. */
export const client = createClient<paths, 'application/json' | 'application/problem+json'>({
  // Given at each call, so that a test or a tool may replace the browser's fetch.
  fetch: (request) => send(request),
  credentials: 'same-origin',
  // A list is revalidated by its entity tag, never taken from the cache as it is.
  cache: 'no-cache',
})

/**
 * What the service sends: it accepts a number as a string too, but always sends it as a number (contract, section 1).
 */
export type Sent<Data> = number extends Data
  ? Exclude<Data, string>
  : Data extends readonly (infer Item)[]
    ? Sent<Item>[]
    : Data extends object
      ? { [Key in keyof Data]: Sent<Data[Key]> }
      : Data

interface Exchange<Data> {
  data?: Data
  error?: unknown
  response: Response
}

/** The body of a success; throws `ProblemError` or `NoAnswerError`. */
export async function answerOf<Data>(call: Promise<Exchange<Data>>): Promise<Sent<Data>> {
  const { data } = await exchangeOf(call)
  return data
}

/** As `answerOf`, with the answer's headers. */
export async function exchangeOf<Data>(
  call: Promise<Exchange<Data>>,
): Promise<{ data: Sent<Data>; response: Response }> {
  const { data, error, response } = await call.catch((failure) => {
    const isTold = failure instanceof NoAnswerError || failure instanceof ProblemError
    if (isTold || isAbort(failure)) throw failure
    // The connection was lost in the middle of the body, or the body is no JSON.
    throw new NoAnswerError('an answer that broke off', { cause: failure })
  })
  if (response.ok) return { data: data as Sent<Data>, response }
  throw readFailure(response, error)
}

function isAbort(failure: unknown): boolean {
  return failure instanceof DOMException && failure.name === 'AbortError'
}
