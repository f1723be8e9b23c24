import { browserClient, isPublic, isSafe } from '../../../client/src/browser.ts'
import { isAskedFor } from '../ui/activity.ts'

export { answerOf, type Sent } from '../../../client/src/client.ts'

/** Nobody asked for this: the service does not count it as use of the session (section 4 of the contract). */
export const inBackground = ['background', '?1'] as const

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

/** The typed client of the service that served this page. */
export const client = browserClient({ fetch: exchange })
export const { fetchAntiforgeryToken, forgetAntiforgeryToken } = client

async function exchange(request: Request, init: RequestInit): Promise<Response> {
  const asked = listener.turn()
  // Tries again, looks after the window has been away, what other tabs tell of: none keeps a session alive.
  if (isSafe(request) && !isAskedFor()) request.headers.set(...inBackground)
  const answer = await fetch(request, init)
  // A refused sign-in says nothing about a session.
  if (!isPublic(request) || answer.ok) listener.onAnswer(answer, asked)
  return answer
}
