import { browserClient, isPublic, isSafe } from '../../../client/src/browser.ts'
import { refusalOf } from '../../../client/src/problem.ts'
import { isAskedFor } from './activity.ts'

export { answerOf } from '../../../client/src/calls.ts'

/**
 * Marks a request that the app makes by itself: the service does not count it as use of the session (section
 * 4 of the contract).
 */
export const inBackground = ['background', '?1'] as const

/** Reports of the client to the session (auth/session.ts). */
export interface Listener {
  /** A number that changes when the signed-in person changes or leaves. */
  turn(): number
  /**
   * While another tab signs someone in, the cookie may already be theirs. Rejects if the person has changed.
   * Undefined if no tab does.
   */
  samePerson(): Promise<void> | undefined
  /**
   * Sees every answer before anyone else reads it. `asked` is the turn in which the request was sent. After
   * a 401 no session is left.
   */
  onAnswer(answer: Response, asked: number): void
}
let listener: Listener = { turn: () => 0, samePerson: () => undefined, onAnswer: () => undefined }

export function listenToAnswers(next: Listener): void {
  listener = next
}

/** The typed client of the service that served this page. */
export const client = browserClient({ fetch: exchange, retries: 0 })
export const { fetchAntiforgeryToken, forgetAntiforgeryToken } = client

/** Resolves to whether the person gave their password (auth/confirm-dialog.tsx). */
let askForPassword = async (): Promise<boolean> => false

export function onRecentSignInNeeded(ask: () => Promise<boolean>): void {
  askForPassword = ask
}

/** Typing a password may take long, so the time limit for the answer starts again. */
const answerLimitMilliseconds = 30_000

/**
 * A request that needs a recent sign-in is sent again once the password is given. No view has to know of it.
 */
async function exchange(request: Request, init: RequestInit): Promise<Response> {
  if (isSafe(request)) return exchangeOnce(request, init)
  const again = request.clone()
  const answer = await exchangeOnce(request, init)
  if ((await refusalOf(answer, 403)) !== 'recent-sign-in-needed') return answer
  if (!(await askForPassword())) return answer
  const signal = AbortSignal.any([again.signal, AbortSignal.timeout(answerLimitMilliseconds)])
  return exchangeOnce(again, { ...init, signal })
}

async function exchangeOnce(request: Request, init: RequestInit): Promise<Response> {
  const held = isSafe(request) || isPublic(request) ? undefined : listener.samePerson()
  if (held) await held
  const asked = listener.turn()
  // Retries, refetches on focus and messages from other tabs must not keep a session alive.
  if (isSafe(request) && !isAskedFor()) request.headers.set(...inBackground)
  const answer = await fetch(request, init)
  // A refused sign-in says nothing about a session.
  if (!isPublic(request) || answer.ok) listener.onAnswer(answer, asked)
  return answer
}
