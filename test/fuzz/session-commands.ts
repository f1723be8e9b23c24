import assert from 'node:assert/strict'
import fc from 'fast-check'
import { type Answer, csrfCookie, readableCookie, sessionCookie } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import {
  anyBrowser,
  anyCaller,
  ask,
  assertExpiry,
  type CallerChoice,
  command,
  cookieSet,
  credentialsOf,
  weighted,
} from './command.ts'
import {
  type Account,
  addId,
  type Browser,
  fromEnd,
  type Model,
  required,
  sessionAbsoluteMilliseconds,
} from './model.ts'

const retiredMilliseconds = 30_000

export const anyUser = fc.record({
  user: fc.nat(2),
  isRight: fc.constantFrom(true, true, true, true, true, false),
})
const minimal = fc.record({ isMinimal: fc.boolean() })

export function userOf(model: Model, user: number): Account {
  return required(model.accounts.filter(({ kind }) => kind === 'user')[user])
}

/** True if the password had to be accepted; otherwise it had to be refused, and was. */
export function assertPasswordTried(
  model: Model,
  account: Account,
  isRight: boolean,
  now: number,
  answer: Answer,
): boolean {
  const wait = account.failedLogins.blockedUntil - now
  const outcome = model.tryPassword(account, isRight, now)
  if (outcome === 'accepted') return true
  if (outcome === 'refused') assertProblem(answer, 401, 'invalid-credentials')
  else {
    assertProblem(answer, 429, 'too-many-attempts')
    assert.equal(answer.headers.get('retry-after'), String(Math.ceil(wait / 1000)))
  }
  return false
}

function browserOf(model: Model, { browser }: CallerChoice): Browser {
  return required(model.browsers[browser])
}

function assertUser(
  { status, headers, body }: Answer,
  account: Account,
  roles: string[],
  isMinimal: boolean,
): void {
  assert.equal(status, isMinimal ? 204 : 200)
  assert.equal(headers.get('preference-applied'), isMinimal ? 'return=minimal' : null)
  if (isMinimal) return
  assert.deepEqual(body, { id: account.id, userName: account.name, email: account.email, roles })
}

const signIn = command(
  'signIn',
  fc.record({ choice: anyBrowser, who: anyUser, how: minimal }),
  async (model, world, { choice, who, how, instance }) => {
    const account = userOf(model, who.user)
    const browser = browserOf(model, choice)
    const { cookie } = credentialsOf(model, choice)
    const password = who.isRight ? account.password : 'wrong'
    const answer = await world.send(instance, {
      method: 'POST',
      path: '/v1/auth/session',
      headers: {
        'content-type': 'application/json',
        ...(cookie === undefined ? {} : { cookie }),
        ...(how.isMinimal ? { prefer: 'return=minimal' } : {}),
      },
      body: JSON.stringify({ email: account.email.toUpperCase(), password }),
    })
    if (!assertPasswordTried(model, account, who.isRight, world.now, answer)) {
      assert.deepEqual(answer.setCookies, [])
      return
    }
    const replaced = model.sessionOf(browser.session)
    const isLive = model.liveSession(browser.session, world.now) !== undefined
    if (replaced !== undefined) model.sessions.delete(replaced)
    const id = required(cookieSet(answer, sessionCookie))
    const offered = browser.csrfCookie === undefined ? undefined : `cookie ${browser.csrfCookie}`
    const choices = isLive ? [replaced?.binding, offered] : [offered, replaced?.binding]
    const held = new Set([...model.sessions].map(({ binding }) => binding))
    const session = {
      account,
      roles: [...account.roles],
      binding: choices.find((choice) => choice !== undefined && !held.has(choice)) ?? `session ${id}`,
      lastSeen: world.now,
      absoluteEnd: world.now + sessionAbsoluteMilliseconds,
      ids: new Map([[id, null]]),
    }
    model.sessions.add(session)
    assertUser(answer, account, session.roles, how.isMinimal)
    assertExpiry(answer, session)
    assert.equal(cookieSet(answer, csrfCookie), browser.csrfCookie === undefined ? undefined : '')
    moveTo(browser, id)
    browser.csrfCookie = undefined
  },
)

const fetchToken = command('fetchToken', anyBrowser, async (model, world, { instance, ...choice }) => {
  const browser = browserOf(model, choice)
  const { cookie } = credentialsOf(model, choice)
  const headers = cookie === undefined ? {} : { cookie }
  const answer = await world.send(instance, { method: 'GET', path: '/v1/auth/csrf', headers })
  assert.equal(answer.status, 200)
  const session = model.liveSession(browser.session, world.now)
  if (session !== undefined) {
    await world.settle(session)
    assertExpiry(answer, session)
    assert.equal(cookieSet(answer, csrfCookie), undefined)
  } else if (browser.csrfCookie === undefined) browser.csrfCookie = required(cookieSet(answer, csrfCookie))
  else assert.equal(cookieSet(answer, csrfCookie), undefined)
  assert.equal(cookieSet(answer, readableCookie), answer.body.token)
  const binding = session?.binding ?? `cookie ${browser.csrfCookie}`
  browser.token = { text: answer.body.token, binding }
})

const refresh = command(
  'refreshSession',
  fc.record({ choice: anyCaller, how: minimal }),
  async (model, world, { choice, how, instance }) => {
    const { answer, caller } = await ask(
      model,
      world,
      { choice, instance },
      {
        method: 'POST',
        path: '/v1/auth/session/refresh',
        access: 'session',
        headers: { prefer: how.isMinimal ? 'return=minimal' : undefined },
      },
    )
    if (caller?.session === undefined) return
    const browser = browserOf(model, choice)
    const { session, account } = caller
    session.roles = [...account.roles]
    session.lastSeen = world.now
    const presented = required(browser.session)
    session.ids.set(presented, session.ids.get(presented) ?? world.now + retiredMilliseconds)
    assertUser(answer, account, session.roles, how.isMinimal)
    assertExpiry(answer, session)
    const id = required(cookieSet(answer, sessionCookie))
    addId(session, id, world.now)
    moveTo(browser, id)
  },
)

const logout = command('logout', anyCaller, async (model, world, { instance, ...choice }) => {
  const browser = browserOf(model, choice)
  const request = { method: 'POST', path: '/v1/auth/session/logout', access: 'session' } as const
  const { answer, caller } = await ask(model, world, { choice, instance }, request)
  if (caller === undefined) {
    const isStale = answer.status === 401 && choice.kind === 'browser' && browser.session !== undefined
    assert.equal(cookieSet(answer, sessionCookie), isStale ? '' : undefined)
    assert.equal(cookieSet(answer, csrfCookie), isStale ? '' : undefined)
    if (isStale) leave(browser)
    return
  }
  assert.equal(answer.status, 204)
  assert.deepEqual([cookieSet(answer, sessionCookie), cookieSet(answer, csrfCookie)], ['', ''])
  model.sessions.delete(required(caller.session))
  leave(browser)
})

function leave(browser: Browser): void {
  moveTo(browser, undefined)
  browser.csrfCookie = undefined
}

const anyOldId = fc.record({ browser: fc.nat(2), past: fc.constantFrom(0, 0, 1, 2) })

/** The browser returns to an earlier id, like a tab that missed every change, or a thief. */
const goBack = command('goBack', anyOldId, async (model, _world, { browser: index, past }) => {
  const browser = required(model.browsers[index])
  const id = fromEnd(browser.past, past)
  if (id !== undefined) moveTo(browser, id)
})

function moveTo(browser: Browser, id: string | undefined): void {
  if (browser.session !== undefined) browser.past.push(browser.session)
  browser.session = id
}

const whoAmI = command('getCurrentUser', anyCaller, async (model, world, { instance, ...choice }) => {
  const request = { method: 'GET', path: '/v1/auth/me', access: 'authenticated' } as const
  const { answer, caller } = await ask(model, world, { choice, instance }, request)
  if (caller === undefined) return
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.body, { id: caller.account.id, userName: caller.account.name, roles: caller.roles })
  if (caller.session !== undefined) assertExpiry(answer, caller.session)
})

const permissions = command('getPermissions', anyCaller, async (model, world, { instance, ...choice }) => {
  const request = { method: 'GET', path: '/v1/auth/me/permissions', access: 'authenticated' } as const
  const { answer, caller } = await ask(model, world, { choice, instance }, request)
  if (caller === undefined) return
  const answered = JSON.stringify(answer.body.permissions)
  const { account, roles } = caller
  const possible = model
    .possiblePermissions(roles, world.now, account.kind)
    .map((held) => JSON.stringify(held))
  assert.ok(possible.includes(answered), `${answered} and not ${possible}`)
})

const inBrowser = (browser: number) =>
  ({ kind: 'browser', browser, bearer: 0, antiforgery: 'right' }) satisfies CallerChoice

const anyTabs = fc.record({
  browser: fc.nat(1),
  waits: fc.tuple(fc.constantFrom(0, 10_000, 20_000), fc.constantFrom(0, 10_000, 20_000)),
})

/** Refreshes with a replaced id: it may work for 30 seconds, and a second one does not extend that. */
const parallelTabs = command('parallelTabs', anyTabs, async (model, world, { browser, waits }) => {
  for (const milliseconds of waits) {
    await refresh.of({ choice: inBrowser(browser), how: { isMinimal: false } }).run(model, world)
    await goBack.of({ browser, past: 0 }).run(model, world)
    world.service.advance(milliseconds)
  }
  await whoAmI.of(inBrowser(browser)).run(model, world)
})

const anyHours = fc.record({ browser: fc.nat(1), times: fc.integer({ min: 1, max: 4 }) })

/** Uses the session often enough that it lasts until its absolute end. */
const stay = command('stay', anyHours, async (model, world, { browser, times }) => {
  for (let count = 0; count < times; count += 1) {
    world.service.advance(1_200_000)
    await whoAmI.of(inBrowser(browser)).run(model, world)
  }
})

export const sessionCommands = weighted(
  [4, signIn],
  [4, fetchToken],
  [5, refresh],
  [1, logout],
  [2, goBack],
  [1, parallelTabs],
  [1, stay],
  [3, whoAmI],
  [2, permissions],
)

/** An administrator in one browser and an operator in another, each with an antiforgery token. */
export const firstSessions = [0, 1].flatMap((browser) => [
  fetchToken.of(inBrowser(browser)),
  signIn.of({ choice: inBrowser(browser), who: { user: browser, isRight: true }, how: { isMinimal: false } }),
])
