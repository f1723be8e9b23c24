import { type Guard, inFile } from './guard.ts'

const guard = inFile('server/auth/guard.ts')
const limits = inFile('server/http/rate-limit.ts')
const context = inFile('server/http/request-context.ts')
const body = inFile('server/http/body.ts')
const errors = inFile('server/http/errors.ts')
const headers = inFile('server/http/security-headers.ts')
const app = inFile('server/app.ts')
const config = inFile('server/config.ts')

const access = ['test/contract/routes-access.test.ts']
const protocol = ['test/contract/routes-protocol.test.ts']
const problems = ['test/contract/problems.test.ts']
const rates = ['test/http/rate-limit.test.ts']
const settings = ['test/http/config.test.ts']
const requests = ['test/http/request-context.test.ts']

/**
 * What every request meets. Members that are no fields are ignored, not refused: nothing reads them, so there is no
 * check to break. A bearer on the routes of the session alone is refused once more by their handlers.
 */
export const requestGuards: Guard[] = [
  guard(
    'permission',
    'every caller may do everything',
    access,
    '!principal.permissions.has(access)) {',
    'principal.permissions.has(access) === undefined) {',
  ),
  guard(
    'access-declared',
    'a route without a declared access is served',
    access,
    'if (config?.access === undefined) throw',
    'if (config === null) throw',
  ),
  guard(
    'limit-address',
    'requests without a valid credential are not counted',
    rates,
    `    parts.limits.consume('anonymous', request.clientAddress, reply)\n    if (request.routeOptions`,
    '    if (request.routeOptions',
  ),
  guard(
    'limit-caller',
    'the requests of a caller are not counted',
    rates,
    '  consumeCallerLimit(request, reply, parts.limits, principal)\n',
  ),
  guard(
    'limit-public',
    'sign-ins are not counted',
    rates,
    '  limits.consume(limit as LimitName, request.clientAddress, reply)\n',
  ),
  limits(
    'limit-late',
    'who goes on over a limit is refused as fast as he asks',
    rates,
    'window.refused > promptRefusals ? lateMilliseconds : 0',
    '0',
  ),
  limits(
    'limit-refused',
    'what is over a limit is served',
    rates,
    'if (left > 0) return\n',
    'if (left >= 0) return\n',
  ),
  limits(
    'limit-ipv6',
    'a network of IPv6 has as many addresses as it likes',
    rates,
    '...after].slice(0, 4)',
    '...after].slice(0, 8)',
  ),
  inFile('server/auth/tokens/routes.ts')(
    'limit-family',
    'the refreshes of a family are not counted',
    rates,
    `      limits.consume('refresh', familyId, reply)\n`,
  ),
  app(
    'trusted-proxies',
    'everybody may name his address',
    rates,
    'config.trustedProxies.length > 0 ? config.trustedProxies : false',
    'true',
  ),
  app(
    'body-limit',
    'a body is longer than 64 KiB',
    protocol,
    'bodyLimitBytes = 64 * 1024',
    'bodyLimitBytes = 1024 * 1024',
  ),
  context(
    'header-limit',
    'the headers are longer than 16 KiB',
    problems,
    `  if (bytes > headerBlockLimitBytes) throw new Problem('headers-too-large')\n`,
  ),
  context(
    'url-limit',
    'a URL is longer than 8 KiB',
    problems,
    `  if ((raw.url?.length ?? 0) > urlLimitBytes) throw new Problem('uri-too-long')\n`,
  ),
  context(
    'one-host',
    'a request names two hosts',
    ['test/security/request-smuggling.test.ts'],
    'if (hosts > 1 || (hosts === 0',
    'if ((hosts === 0',
  ),
  context(
    'foreign-host',
    'a development service answers the names of others',
    requests,
    'host !== undefined && !isLoopbackHost(hostnameOf(host))',
    'host === undefined && !isLoopbackHost(hostnameOf(String(host)))',
  ),
  body(
    'body-prototype',
    'a body reaches the prototype of objects',
    protocol,
    'test(text) && hasForbiddenKey(value)',
    'test(text) && hasForbiddenKey(null)',
  ),
  body(
    'body-utf8',
    'octets that are no UTF-8 are taken for something else',
    protocol,
    'fatal: true',
    'fatal: false',
  ),
  body(
    'body-type',
    'a form of another site is read as JSON',
    protocol,
    'if (!jsonType.test(type) || !parameters.every(isAcceptableParameter)) {',
    'if (jsonType.test(type) && !parameters.every(isAcceptableParameter)) {',
  ),
  errors(
    'error-text',
    'a failure tells the caller what failed inside',
    ['test/security/leaks.test.ts'],
    'problem.detail ?? remedy',
    '(problem.cause as Error | undefined)?.stack ?? problem.detail ?? remedy',
  ),
  errors(
    'error-path',
    'a refusal repeats the query',
    [...problems, 'test/security/leaks.test.ts'],
    'pathOf(request.originalUrl).slice',
    'request.originalUrl.slice',
  ),
  inFile('server/http/request-log.ts')(
    'log-path',
    'the log holds the query',
    requests,
    'path: pathOf(request.raw.url)',
    `path: request.raw.url ?? pathOf('/')`,
  ),
  headers(
    'content-security-policy',
    'an answer of the API may run scripts',
    protocol,
    `apiPolicy = "default-src 'none'; frame-ancestors 'none'"`,
    `apiPolicy = "default-src 'self'"`,
  ),
  headers(
    'content-security-policy-page',
    'the page runs scripts that were put into it',
    ['test/http/web-app.test.ts'],
    `script-src 'self';`,
    `script-src 'self' 'unsafe-inline';`,
  ),
  headers(
    'content-type-options',
    'a browser guesses types',
    protocol,
    `    'x-content-type-options': 'nosniff',\n`,
  ),
  headers('no-store', 'caches keep what is private', protocol, `    'cache-control': 'no-store',\n`),
  headers(
    'transport-security',
    'browsers come back without TLS',
    protocol,
    'development ? {} : {',
    'development || development === false ? {} : {',
  ),
  inFile('server/http/cors.ts')(
    'cors-origins',
    'every origin may read',
    ['test/http/cors.test.ts'],
    'origin === undefined || !origins.includes(origin)',
    'origin === undefined',
  ),
  inFile('server/serve.ts')(
    'demo-accounts',
    'production serves accounts whose passwords are public',
    ['test/http/start.test.ts'],
    '    if (!(await hasDemoAccounts(db.read))) return\n',
    '    if (!(await hasDemoAccounts(db.read)) || !development) return\n',
  ),
  config(
    'production-settings',
    'production makes up keys of its own',
    settings,
    '  if (!development) faults.push(...missingInProduction(given, env))\n',
  ),
  config(
    'public-url-https',
    'the public address is without TLS',
    settings,
    `if (protocol === 'http:' && !isLoopbackHost(hostname)) {`,
    `if (protocol === 'ftp:' && !isLoopbackHost(hostname)) {`,
  ),
  config(
    'development-loopback',
    'a development service listens to everybody',
    settings,
    'if (development && given.HOST !== undefined',
    'if (!development && given.HOST !== undefined',
  ),
  config(
    'trusted-everybody',
    'a setting makes everybody a trusted proxy',
    ['test/http/hostile.test.ts'],
    'Number(bits) >= 1 &&',
    'Number(bits) >= 0 &&',
  ),
]
