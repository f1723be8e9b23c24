import type { Permission } from '../../../client/src/facts.ts'
import type { components } from '../../../client/src/schema.ts'
import {
  answerOf,
  client,
  fetchAntiforgeryToken,
  forgetAntiforgeryToken,
  listenToAnswers,
} from '../api/client.ts'
import { isPassing, problemOf, retryDelayMilliseconds } from '../api/problem.ts'
import { observable } from '../ui/observable.ts'
import { pause } from '../ui/pause.ts'
import { forgetEnd, isRemembered, recordLife, sessionLife } from './life.ts'
import { listenToOtherTabs, tellOtherTabs } from './other-tabs.ts'

export type User = components['schemas']['CurrentUserResponse']
type PasskeyAnswer = components['schemas']['PasskeySignInCommand']['credential']

/** Why no one is signed in: shown above the sign-in form. */
export type Ending = 'expired' | 'signed-out' | 'signed-out-elsewhere'

export type Session =
  /** Not known yet. `failure` is that of the last try. */
  | { kind: 'loading'; failure?: unknown }
  | { kind: 'anonymous'; ending?: Ending }
  | { kind: 'signed-in'; user: User; permissions: readonly string[] }

/** The password was right, but the browser did not keep the cookie of the session. */
export class NoCookieError extends Error {
  override readonly name = 'NoCookieError'
}

const session = observable<Session>({ kind: 'loading' })
/** Called when the person in this tab changes or leaves, to forget what was fetched for them. */
const forgetters = new Set<() => void>()
let person = 0
/** Counts those changes, so that nothing begun for one person is shown to the next. */
export const currentPerson = () => person

/**
 * Wraps an attempt so that it fails, before sending or after the answer, once the person who began it is
 * gone.
 */
export function ofThisPerson<Result>(attempt: () => Promise<Result>): () => Promise<Result> {
  const begun = person
  const check = () => {
    if (begun !== person) throw new Error('the person who began this is gone')
  }
  return async () => {
    check()
    const result = await attempt()
    check()
    return result
  }
}

export const useSession = session.use
export const currentSession = session.get

/** The signed-in person. Only for views behind the gate of app/routes.tsx. */
export function useUser(): User {
  const current = useSession()
  if (current.kind !== 'signed-in') throw new Error('this view is for signed-in people')
  return current.user
}

export function useMay(permission: Permission): boolean {
  const current = useSession()
  return current.kind === 'signed-in' && current.permissions.includes(permission)
}

export function onForget(forget: () => void): void {
  forgetters.add(forget)
}

type Farewell = () => boolean | Promise<boolean>
let farewell: Farewell = () => true

/** Asked before a sign-out, while there is still a session: with `false`, the person stays signed in. */
export function beforeSignOut(ask: Farewell): void {
  farewell = ask
}

/** Counts the changes of person, so that the answer to an earlier request changes nothing. */
let turn = 0

function become(next: Session): void {
  const previous = session.get()
  if (next.kind !== 'signed-in') sessionLife.set(undefined)
  if (next.kind === 'anonymous') forgetEnd()
  session.set(next)
  const isSamePerson =
    previous.kind === 'signed-in' && next.kind === 'signed-in' && next.user.id === previous.user.id
  // main.tsx may have fetched orders before it was known that no one is signed in.
  const wasExpected = previous.kind === 'loading' && next.kind === 'anonymous'
  if (isSamePerson || (previous.kind !== 'signed-in' && !wasExpected)) return
  if (!wasExpected) person += 1
  for (const forget of forgetters) forget()
}

/**
 * Asks the service who is signed in, until it answers. With `isDoubtful`, perhaps no one is, so it first asks
 * in a way that leaves no error in the browser's console.
 */
export async function loadSession(ending?: Ending, isDoubtful = false): Promise<void> {
  turn += 1
  const asked = turn
  const settle = (next: Session) => {
    if (asked === turn) become(next)
  }
  for (let tries = 0; asked === turn; tries += 1) {
    try {
      if (isDoubtful && !(await isThere())) return settle({ kind: 'anonymous', ...(ending && { ending }) })
      const [user, { permissions }] = await Promise.all([
        answerOf(client.GET('/v1/auth/me')),
        answerOf(client.GET('/v1/auth/me/permissions')),
      ])
      return settle({ kind: 'signed-in', user, permissions })
    } catch (failure) {
      if (problemOf(failure, 'authentication-required')) {
        return settle({ kind: 'anonymous', ...(ending && { ending }) })
      }
      // The message about an ended session stays on the screen, even without a network.
      if (session.get().kind !== 'anonymous') settle({ kind: 'loading', failure })
      await pause(isPassing(failure) ? retryDelayMilliseconds(tries, failure) : 10_000)
    }
  }
}

/** Whether there is a session. Anyone may fetch the antiforgery token, and the answer shows it. */
async function isThere(): Promise<boolean> {
  forgetAntiforgeryToken()
  await fetchAntiforgeryToken()
  return sessionLife.get() !== undefined
}

let isStarted = false

/** Asks who is signed in, once, when the first view needs to know. */
export function startSession(): void {
  if (isStarted) return
  isStarted = true
  void loadSession(undefined, !isRemembered())
}

/**
 * Signs in by email and password, or by the answer of an authenticator. Throws `ProblemError`
 * (`invalid-credentials`, `too-many-attempts`, ...), `NoAnswerError` or `NoCookieError`.
 */
export async function signIn(
  given: { email: string; password: string } | { credential: PasskeyAnswer },
): Promise<void> {
  await fetchAntiforgeryToken()
  tellOtherTabs({ kind: 'signing-in' })
  await answerOf(
    'credential' in given
      ? client.POST('/v1/auth/session/passkey', { body: given })
      : client.POST('/v1/auth/session', { body: given }),
  ).catch((failure) => {
    tellOtherTabs({ kind: 'not-signed-in' })
    throw failure
  })
  await loadSession()
  if (session.get().kind === 'anonymous') throw new NoCookieError()
  tellOtherTabs({ kind: 'signed-in' })
}

/** Ends the session in every tab. A session that is over already counts as ended. */
export async function signOut(): Promise<void> {
  if (!(await farewell())) return
  try {
    await answerOf(client.POST('/v1/auth/session/logout'))
  } catch (failure) {
    if (!problemOf(failure, 'authentication-required')) throw failure
  }
  turn += 1
  forgetAntiforgeryToken()
  tellOtherTabs({ kind: 'signed-out' })
  become({ kind: 'anonymous', ending: 'signed-out' })
}

/** Keeps the session alive, and takes over changed roles and permissions. */
export async function refreshSession(): Promise<void> {
  const asked = turn
  const refreshed = await answerOf(client.POST('/v1/auth/session/refresh'))
  const { permissions } = await answerOf(client.GET('/v1/auth/me/permissions'))
  const current = session.get()
  if (asked !== turn || current.kind !== 'signed-in') return
  const user = { ...current.user, ...(refreshed && { roles: refreshed.roles }) }
  const isKnown =
    String(user.roles) === String(current.user.roles) && String(permissions) === String(current.permissions)
  if (!isKnown) become({ kind: 'signed-in', user, permissions })
}

/** The session ended elsewhere, so protected content disappears. */
export function endSession(ending: Ending): void {
  if (session.get().kind !== 'signed-in') return
  turn += 1
  forgetAntiforgeryToken()
  become({ kind: 'anonymous', ending })
}

/** Until it is known whose session it is after a sign-in in another tab. */
let held: Promise<void> | undefined
let release = () => {}
/** For a tab that is closed during its sign-in. Longer than the wait for an answer. */
const longestHoldMilliseconds = 40_000

function holdRequests(): void {
  release()
  held = new Promise((resolve) => {
    const timer = setTimeout(resolve, longestHoldMilliseconds)
    release = () => {
      clearTimeout(timer)
      held = undefined
      resolve()
    }
  })
}

listenToAnswers({
  turn: () => turn,
  samePerson: () => held && ofThisPerson(async () => held)(),
  onAnswer(answer, asked) {
    if (asked !== turn) return
    if (answer.status !== 401) return recordLife(answer)
    if (session.get().kind !== 'signed-in') return
    endSession('expired')
    tellOtherTabs({ kind: 'refused' })
    // Another tab may just have renewed the session, so ask once more.
    void loadSession('expired', true)
  },
})

listenToOtherTabs({
  'signed-out': () => endSession('signed-out-elsewhere'),
  'signing-in': holdRequests,
  'signed-in': () => void loadSession().finally(() => release()),
  'not-signed-in': () => release(),
  refused: () => {
    if (session.get().kind === 'signed-in') void loadSession('expired')
  },
  life: ({ life }) => {
    if (session.get().kind === 'signed-in') sessionLife.set(life)
  },
})

// The back-forward cache restores a page as it was left. So the page is left showing nothing, and asks who is
// signed in when it comes back.
addEventListener('pagehide', ({ persisted }) => {
  if (persisted && session.get().kind === 'signed-in') become({ kind: 'loading' })
})
addEventListener('pageshow', ({ persisted }) => {
  if (persisted && session.get().kind === 'loading') void loadSession('expired', true)
})
