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

/** Why no one is signed in: shown above the sign-in form. */
export type Ending = 'expired' | 'signed-out' | 'signed-out-elsewhere'

export type Session =
  /** Not known yet. `failure`: of the last try. */
  | { kind: 'loading'; failure?: unknown }
  | { kind: 'anonymous'; ending?: Ending }
  | { kind: 'signed-in'; user: User; permissions: readonly string[] }

/** The password was right, but the browser did not keep the cookie of the session. */
export class NoCookieError extends Error {
  override readonly name = 'NoCookieError'
}

const session = observable<Session>({ kind: 'loading' })
/** Called when the person in this tab changes or leaves: what was fetched for them is forgotten. */
const forgetters = new Set<() => void>()
let person = 0
/** Counts those changes: what was begun for one person is never shown to the next. */
export const currentPerson = () => person

/** Fails instead of sending, or answering, once the person who began it here is gone. */
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

const farewells = new Set<(user: User) => Promise<boolean>>()

/** Done while the session is still there. `false` keeps the person signed in; they have been shown why. */
export function beforeSignOut(farewell: (user: User) => Promise<boolean>): void {
  farewells.add(farewell)
}

/** Counts the changes of person, so that an earlier request changes nothing. */
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
  person += 1
  for (const forget of forgetters) forget()
}

/**
 * Asks the service who is signed in, until it answers. `isDoubtful`: perhaps no one is, so it first asks in a
 * way that leaves no error in the browser's console.
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
      // The words about an end stay on the screen, even without a network.
      if (session.get().kind !== 'anonymous') settle({ kind: 'loading', failure })
      await pause(isPassing(failure) ? retryDelayMilliseconds(tries, failure) : 10_000)
    }
  }
}

/** Anyone may fetch the antiforgery token, and the answer shows whether there is a session. */
async function isThere(): Promise<boolean> {
  forgetAntiforgeryToken()
  await fetchAntiforgeryToken()
  return sessionLife.get() !== undefined
}

let isStarted = false

/** Asks once who is signed in, for the first view that needs to know. */
export function startSession(): void {
  if (isStarted) return
  isStarted = true
  void loadSession(undefined, !isRemembered())
}

/**
 * Throws `ProblemError` (`invalid-credentials`, `too-many-attempts`, ...), `NoAnswerError` or
 * `NoCookieError`.
 */
export async function signIn(credentials: { email: string; password: string }): Promise<void> {
  await fetchAntiforgeryToken()
  await answerOf(client.POST('/v1/auth/session', { body: credentials }))
  await loadSession()
  if (session.get().kind === 'anonymous') throw new NoCookieError()
  tellOtherTabs({ kind: 'signed-in' })
}

/** Ends the session in every tab. A session that is over already counts as ended. */
export async function signOut(): Promise<void> {
  const current = session.get()
  if (current.kind === 'signed-in') {
    for (const farewell of farewells) if (!(await farewell(current.user))) return
  }
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

/** The session ended elsewhere: no protected content stays. */
export function endSession(ending: Ending): void {
  if (session.get().kind !== 'signed-in') return
  turn += 1
  forgetAntiforgeryToken()
  become({ kind: 'anonymous', ending })
}

listenToAnswers({
  turn: () => turn,
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
  'signed-in': () => void loadSession(),
  refused: () => {
    if (session.get().kind === 'signed-in') void loadSession('expired')
  },
  life: ({ life }) => {
    if (session.get().kind === 'signed-in') sessionLife.set(life)
  },
})

// A page from the back-forward cache shows what it last showed. So it shows nothing, and asks who is signed
// in.
addEventListener('pagehide', ({ persisted }) => {
  if (persisted && session.get().kind === 'signed-in') become({ kind: 'loading' })
})
addEventListener('pageshow', ({ persisted }) => {
  if (persisted && session.get().kind === 'loading') void loadSession('expired', true)
})
