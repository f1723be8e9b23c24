import { type Guard, inFile } from './guard.ts'

const who = inFile('server/auth/authenticate.ts')
const cookie = inFile('server/auth/session/cookies.ts')
const store = inFile('server/auth/session/store.ts')
const guard = inFile('server/auth/guard.ts')
const antiforgery = inFile('server/auth/antiforgery.ts')

const use = ['test/auth/getCurrentUser.test.ts']
const refreshes = ['test/auth/refreshSession.test.ts']
const login = ['test/auth/loginSession.test.ts']
const attacks = ['test/security/session-attacks.test.ts']
const matrix = ['test/auth/antiforgery.test.ts']
const surplus = ['test/auth/surplus.test.ts']

/** Sessions, their cookies, and what keeps other sites out. */
export const sessionGuards: Guard[] = [
  who('session-idle-end', 'a session that nobody uses stays', use, ' || idleEnd <= now ||', ' ||'),
  who(
    'session-absolute-end',
    'a session lives for as long as it is used',
    use,
    ' || session.absoluteExpiresAt <= now)',
    ')',
  ),
  who(
    'session-retired-id',
    'an id that was replaced serves on',
    refreshes,
    'isRetired(session.retiredAt, now) || ',
  ),
  store(
    'session-retired-once',
    'a refresh prolongs the id that it came with',
    refreshes,
    `eb.fn.coalesce('retired_at', eb.val(input.retireAt))`,
    'eb.val(input.retireAt)',
  ),
  store(
    'session-replaced',
    'the session that a login came with stays',
    login,
    '  if (input.replacedIdHash !== null) await endSession(trx, { idHash: input.replacedIdHash })\n',
  ),
  store(
    'session-confirmed',
    'a login that races with a new password makes a session',
    ['test/auth/revocation.test.ts'],
    '  if (!confirmed) return undefined\n',
    '  void confirmed\n',
  ),
  store(
    'sessions-limit',
    'a user has any number of sessions',
    surplus,
    '  await endSurplusSessions(trx, input.principalId)\n',
  ),
  cookie(
    'cookie-secure',
    'the cookie travels without TLS',
    login,
    'Path=/; Secure; HttpOnly',
    'Path=/; HttpOnly',
  ),
  cookie(
    'cookie-http-only',
    'scripts read the cookie',
    login,
    'Secure; HttpOnly; SameSite',
    'Secure; SameSite',
  ),
  cookie(
    'cookie-same-site',
    'the cookie comes along from other sites',
    login,
    '; SameSite=Strict',
    '; SameSite=None',
  ),
  cookie(
    'cookie-prefix',
    'a sibling domain can set the cookie',
    login,
    `sessionCookieName = '__Host-Http-session'`,
    `sessionCookieName = 'session'`,
  ),
  cookie(
    'cookie-name-space',
    'a cookie that only looks like ours counts',
    ['test/http/hostile.test.ts'],
    '.map(trimmed)',
    '.map((pair) => pair.trim())',
  ),
  who(
    'cookie-tossing',
    'of two session cookies the first counts',
    attacks,
    `return values.length > 1 ? '' : values[0]`,
    'return values[0]',
  ),
  who(
    'antiforgery-cookie-tossing',
    'of two antiforgery cookies the first counts',
    attacks,
    'return values.length === 1 && value !== undefined',
    'return value !== undefined',
  ),
  guard(
    'antiforgery-call',
    'another site writes by the cookie',
    matrix,
    `  if (principal.via === 'session' && isUnsafe(request.method)) assertNotForged(request, parts, principal)\n`,
  ),
  antiforgery(
    'antiforgery-signature',
    'any text of the right form is an antiforgery token',
    matrix,
    'return timingSafeEqual(',
    'return 1 > 0 || timingSafeEqual(',
  ),
  antiforgery(
    'antiforgery-binding',
    'an antiforgery token serves every session',
    matrix,
    '#sign(binding: string, nonce: string): string {\n',
    `#sign(binding: string, nonce: string): string {\n    binding = ''\n`,
  ),
  guard(
    'sec-fetch-site',
    'the word of the browser counts for nothing',
    matrix,
    `if (site !== undefined) return site !== 'same-origin' && site !== 'none'`,
    'if (site !== undefined) return false',
  ),
  guard(
    'origin',
    'any origin may write',
    matrix,
    'return !(config.development && origin',
    'return (config.development && origin',
  ),
  guard(
    'login-same-site',
    'another site signs its visitor in',
    login,
    '  if (request.routeOptions.config.sameSiteOnly) assertSameSite(request, config, publicUrl())\n',
  ),
]
