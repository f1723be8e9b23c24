import type { FastifyReply } from 'fastify'
import type { SessionState } from '../../../caller/principal.ts'
import { formatInstant } from '../../../clock.ts'
import type { Config } from '../../../config.ts'

/** A browser takes a cookie with the `__Host-Http-` prefix only for this host, and hides it from scripts. */
export const sessionCookieName = '__Host-Http-session'
export const antiforgeryCookieName = '__Host-Http-csrf'

/** A way to the provider of company accounts and back. The redirect from there carries no Strict cookie. */
export const attemptCookieName = '__Host-Http-company'

/** How long an id still works after a refresh has replaced it, so that parallel tabs do not fail. */
export const retiredIdGraceMilliseconds = 30_000
/** The last use of a session is written at most this often. */
export const touchIntervalMilliseconds = 60_000

/**
 * Holds the token, and scripts can read it: Angular and axios send it back as X-XSRF-TOKEN by themselves. Any
 * site of the domain can set it, so the service never reads it.
 */
const readableCookieName = 'XSRF-TOKEN'

const readable = 'Path=/; Secure; SameSite=Strict'
const attributes = 'Path=/; Secure; HttpOnly; SameSite=Strict'

export function setCookie(name: string, value: string): string {
  return `${name}=${value}; ${attributes}`
}

export function clearCookie(name: string): string {
  return `${name}=; Max-Age=0; ${attributes}`
}

export function setReadableCookie(token: string): string {
  return `${readableCookieName}=${token}; ${readable}`
}

const attemptAttributes = 'Path=/; Secure; HttpOnly; SameSite=Lax'

export function setAttempt(sealed: string, lifetimeSeconds: number): string {
  return `${attemptCookieName}=${sealed}; Max-Age=${lifetimeSeconds}; ${attemptAttributes}`
}

export function clearAttempt(): string {
  return `${attemptCookieName}=; Max-Age=0; ${attemptAttributes}`
}

/** Clears the cookies of a session that has ended. */
export function clearSession(reply: FastifyReply): FastifyReply {
  return reply
    .removeHeader('session-idle-expires')
    .removeHeader('session-expires')
    .header('set-cookie', clearCookie(sessionCookieName))
    .header('set-cookie', clearCookie(antiforgeryCookieName))
    .header('set-cookie', `${readableCookieName}=; Max-Age=0; ${readable}`)
}

/**
 * All values of one name in a Cookie header (RFC 6265 §5.4), because it does not say which one the browser
 * meant. Only spaces and tabs around a pair are dropped. To a browser, a name that begins with another kind
 * of space is no `__Host-` name, so here it is a different name too.
 */
export function cookieValues(header = '', name: string): string[] {
  // Taking a header of 16 KB apart costs 0.2 ms.
  if (!header.includes(name)) return []
  return header
    .split(';')
    .map(trimmed)
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
}

/** Looks at each character once. A regular expression would start again at each of thousands of spaces. */
function trimmed(pair: string): string {
  let start = 0
  let end = pair.length
  while (start < end && isBlank(pair.charCodeAt(start))) start += 1
  while (end > start && isBlank(pair.charCodeAt(end - 1))) end -= 1
  return pair.slice(start, end)
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09
}

/** Shows a cookie caller when its session ends if unused, and when it ends at the latest. */
export function announceExpiry(
  reply: FastifyReply,
  { lastSeenAt, absoluteExpiresAt }: Pick<SessionState, 'lastSeenAt' | 'absoluteExpiresAt'>,
  { sessionIdleTtlSeconds }: Config,
): void {
  const idleEnd = lastSeenAt + sessionIdleTtlSeconds * 1000
  reply.headers({
    'session-idle-expires': formatInstant(Math.min(idleEnd, absoluteExpiresAt)),
    'session-expires': formatInstant(absoluteExpiresAt),
  })
}
