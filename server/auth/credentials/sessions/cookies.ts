import type { FastifyReply } from 'fastify'
import { formatInstant } from '../../../clock.ts'
import type { Config } from '../../../config.ts'
import type { SessionState } from '../../../principal.ts'

/** The `__Host-Http-` prefix binds a cookie to this host and hides it from scripts, whoever sets it. */
export const sessionCookieName = '__Host-Http-session'
export const antiforgeryCookieName = '__Host-Http-csrf'

/** How long an id that a refresh has replaced still serves, so that parallel tabs do not fail. */
export const retiredIdGraceMilliseconds = 30_000
/** How often at most the last use of a session is written. */
export const touchIntervalMilliseconds = 60_000

const attributes = 'Path=/; Secure; HttpOnly; SameSite=Strict'

export function setCookie(name: string, value: string): string {
  return `${name}=${value}; ${attributes}`
}

export function clearCookie(name: string): string {
  return `${name}=; Max-Age=0; ${attributes}`
}

/** Takes the cookies of a session that has been ended. */
export function clearSession(reply: FastifyReply): FastifyReply {
  return reply
    .removeHeader('session-idle-expires')
    .removeHeader('session-expires')
    .header('set-cookie', clearCookie(sessionCookieName))
    .header('set-cookie', clearCookie(antiforgeryCookieName))
}

/**
 * The values of one name in a Cookie header (RFC 6265 §5.4): all of them, for nobody knows which one the browser meant.
 * Only spaces and tabs around a pair are left out. A name that begins with another kind of space is no `__Host-` name to a
 * browser, so here it is another name too.
 */
export function cookieValues(header: string | undefined, name: string): string[] {
  if (header === undefined || !header.includes(name)) return []
  return header
    .split(';')
    .map(trimmed)
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
}

/** Looks at each character once. A regular expression would begin anew at each of thousands of spaces. */
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

/** Every answer to a cookie caller says when its session ends if nothing more happens, and when in any case. */
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
