import assert from 'node:assert/strict'
import fc, { type AsyncCommand } from 'fast-check'
import type { Permission } from '../../server/caller/permissions.ts'
import type { Answer } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import { type AccessToken, type Account, fromEnd, idleEnd, type Model, type Session } from './model.ts'
import type { Fields } from './sender.ts'
import type { World } from './world.ts'

export type Command = AsyncCommand<Model, World>

type Run<T> = (model: Model, world: World, input: T & { instance: number }) => Promise<void>

/** A kind of command, with random inputs or a given one. */
export interface CommandKind<T> {
  any: fc.Arbitrary<Command>
  of(input: T): Command
}

/** The same input has the same effect on the same model. */
export function command<T>(name: string, input: fc.Arbitrary<T>, run: Run<T>): CommandKind<T> {
  const common = fc.record({ instance: fc.nat(1), tick: fc.constantFrom(0, 1, 250, 1_700) })
  const make = (values: T & { instance: number; tick: number }): Command => ({
    check: () => true,
    async run(model, world) {
      world.service.advance(values.tick)
      await run(model, world, values)
    },
    toString: () => `${name} ${JSON.stringify(values)}`,
  })
  return {
    any: fc.tuple(common, input).map(([how, values]) => make({ ...values, ...how })),
    of: (values) => make({ ...values, instance: 0, tick: 1 }),
  }
}

/** Draws each as often as its weight says. */
export function weighted(
  ...kinds: [weight: number, kind: { any: fc.Arbitrary<Command> }][]
): fc.Arbitrary<Command>[] {
  return kinds.flatMap(([weight, { any }]) => Array.from({ length: weight }, () => any))
}

/** Whose credentials a request carries. */
export interface CallerChoice {
  kind: 'browser' | 'bearer' | 'both' | 'nobody'
  browser: number
  bearer: number
  antiforgery: 'right' | 'missing' | 'wrong'
}

export const anyCaller: fc.Arbitrary<CallerChoice> = fc.record({
  kind: fc.oneof(
    { weight: 3, arbitrary: fc.constant('browser' as const) },
    { weight: 4, arbitrary: fc.constant('bearer' as const) },
    { weight: 2, arbitrary: fc.constantFrom('both' as const, 'nobody' as const) },
  ),
  browser: fc.nat(2),
  bearer: fc.constantFrom(0, 0, 0, 1, 2, 3, 5, 8),
  antiforgery: fc.constantFrom('right', 'right', 'right', 'right', 'missing', 'wrong'),
})

/** Any browser, with its cookies only. */
export const anyBrowser = anyCaller.map((choice): CallerChoice => ({ ...choice, kind: 'browser' }))

export function credentialsOf(model: Model, choice: CallerChoice): Fields {
  const { kind, antiforgery } = choice
  const browser = model.browsers[choice.browser]
  const cookies = [
    ...(browser?.session === undefined ? [] : [`__Host-Http-session=${browser.session}`]),
    ...(browser?.csrfCookie === undefined ? [] : [`__Host-Http-csrf=${browser.csrfCookie}`]),
  ]
  const hasCookies = (kind === 'browser' || kind === 'both') && cookies.length > 0
  const token = {
    right: browser?.token?.text,
    missing: undefined,
    wrong: `${'A'.repeat(22)}.${'B'.repeat(43)}`,
  }[antiforgery]
  const bearer = fromEnd(model.accessTokens, choice.bearer)?.value ?? 'none'
  return {
    ...(hasCookies ? { cookie: cookies.join('; ') } : {}),
    ...(hasCookies && token !== undefined ? { 'x-xsrf-token': token } : {}),
    ...(kind === 'bearer' || kind === 'both' ? { authorization: `Bearer ${bearer}` } : {}),
  }
}

export interface Caller {
  account: Account
  roles: readonly string[]
  session: Session | undefined
}

interface Request {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  access: 'session' | 'authenticated' | Permission
  /** Undefined ones are not sent. */
  headers?: Record<string, string | undefined>
  /** Sent as JSON. */
  body?: unknown
}

interface Admission extends Request {
  choice: CallerChoice
  instance: number
  answer: Answer
}

/**
 * Sends a request with the credentials of the choice. `caller` is undefined if the service had to refuse it
 * because of them, and then it did.
 */
export async function ask(
  model: Model,
  world: World,
  from: { choice: CallerChoice; instance: number },
  request: Request,
): Promise<{ answer: Answer; caller: Caller | undefined }> {
  const { method, path, headers = {}, body } = request
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  )
  const answer = await world.send(from.instance, {
    method,
    path,
    headers: {
      ...credentialsOf(model, from.choice),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...Object.fromEntries(given),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const { choice, instance } = from
  return { answer, caller: await admitted(model, world, { ...request, choice, instance, answer }) }
}

/**
 * The account that the service had to recognize. Undefined if it had to refuse the request because of its
 * credentials, its antiforgery token or a permission, and then it did.
 */
async function admitted(model: Model, world: World, admission: Admission): Promise<Caller | undefined> {
  const { choice, answer, access } = admission
  const isUnsafe = admission.method !== 'GET'
  const caller = authenticated(model, world.now, admission)
  if (caller === undefined || (access === 'session' && caller.session === undefined)) {
    assertProblem(answer, 401, 'authentication-required')
    return undefined
  }
  const { session } = caller
  const browser = model.browsers[choice.browser]
  if (session !== undefined) await world.settle(session)
  if (session !== undefined && isUnsafe && choice.antiforgery !== 'right') {
    const isSent = choice.antiforgery === 'wrong'
    assertProblem(answer, 403, isSent ? 'csrf-token-invalid' : 'csrf-token-missing')
    return undefined
  }
  if (session !== undefined && isUnsafe && browser?.token?.binding !== session.binding) {
    assertProblem(answer, 403, browser?.token === undefined ? 'csrf-token-missing' : 'csrf-token-invalid')
    return undefined
  }
  if (access === 'session' || access === 'authenticated') return caller
  const possible = model.possiblePermissions(caller.roles, world.now).map((held) => held.includes(access))
  const isRefused = answer.body?.code === 'permission-denied'
  assert.ok(possible.includes(!isRefused), `${access} of ${caller.roles}: ${answer.status} ${answer.text}`)
  if (!isRefused) return caller
  assertProblem(answer, 403, 'permission-denied')
  assert.equal(answer.body.permission, access)
  return undefined
}

function authenticated(
  model: Model,
  now: number,
  { choice, instance, answer, access }: Admission,
): Caller | undefined {
  if (choice.kind === 'nobody') return undefined
  // The routes of a session refuse every bearer: their 401 says nothing about the token.
  if (choice.kind !== 'browser' && access === 'session') return undefined
  if (choice.kind === 'browser') {
    const session = model.liveSession(model.browsers[choice.browser]?.session, now)
    return session && { account: session.account, roles: session.roles, session }
  }
  const token = fromEnd(model.accessTokens, choice.bearer)
  if (token === undefined || !isTaken(model, token, instance, answer, now)) return undefined
  return { account: token.account, roles: token.roles, session: undefined }
}

/** While an instance may not have noticed yet, its answer shows whether it has. */
function isTaken(model: Model, token: AccessToken, instance: number, answer: Answer, now: number): boolean {
  const standing = model.standing(token, instance, now)
  if (standing !== 'either') return standing === 'valid'
  if (answer.status !== 401) return true
  token.refusedAt.add(instance)
  return false
}

/** Every answer to a browser has both ends of its session. */
export function assertExpiry({ headers }: Answer, session: Session): void {
  const ends = [idleEnd(session), session.absoluteEnd].map((end) => new Date(end).toISOString())
  assert.deepEqual([headers.get('session-idle-expires'), headers.get('session-expires')], ends)
}

/** Values of a cookie that the answer sets; undefined if it does not, empty if it clears the cookie. */
export function cookieSet({ setCookies }: Answer, name: string): string | undefined {
  const lines = setCookies.flatMap((line) =>
    line.startsWith(`${name}=`) ? [line.slice(name.length + 1)] : [],
  )
  assert.ok(lines.length <= 1, lines.join('\n'))
  return lines[0]?.split(';')[0]
}
