import type { IncomingHttpHeaders, OutgoingHttpHeaders, Server } from 'node:http'
import { tmpdir } from 'node:os'
import { demoAccounts, demoClient } from '../../server/demo/demo.ts'

/**
 * Every test also guarantees this: no log line holds a secret that was sent or given while it ran, and no
 * answer shows internals of the service. `client.ts`, `raw.ts` and `service.ts` report what they see;
 * `assertDiscreet` runs when a service ends.
 */
const tokenPattern = /[A-Za-z0-9_-][A-Za-z0-9_.-]{15,}/g
const prefixLength = 16
/** Beginnings of tokens, so that a truncated token in the log is found too. */
const tokenPrefixes = new Set<string>()
/** Passwords and other secrets that are not tokens, as a line of JSON would show them. */
const texts = new Set<string>()
const findings = new Set<string>()

const secretMembers = [
  ...['password', 'currentPassword', 'newPassword', 'clientSecret', 'client_secret'],
  ...['refreshToken', 'accessToken', 'access_token', 'token'],
]
/** Shorter ones are words that a log may hold for other reasons. */
const shortestText = 12

export function noteSecret(secret: unknown): void {
  if (typeof secret !== 'string' || secret.length < shortestText) return
  const [token] = secret.match(tokenPattern) ?? []
  if (token === secret) tokenPrefixes.add(secret.slice(0, prefixLength))
  else texts.add(JSON.stringify(secret).slice(1, -1))
}

for (const { password } of demoAccounts) noteSecret(password)
noteSecret(demoClient.clientSecret)

function noteMembers(body: unknown): void {
  if (typeof body !== 'object' || body === null) return
  for (const name of secretMembers) noteSecret((body as Record<string, unknown>)[name])
}

function noteCookies(pairs: string): void {
  for (const [, value] of pairs.matchAll(/__Host-Http-\w+=([^;\s]+)/g)) noteSecret(value)
}

/** A request as sent or as received. */
export function noteRequest(headers: IncomingHttpHeaders, body?: unknown): void {
  const { authorization, cookie, 'x-xsrf-token': antiforgeryToken } = headers
  noteSecret(authorization?.replace(/^\S+ +/, ''))
  noteSecret(antiforgeryToken)
  noteCookies(cookie ?? '')
  noteMembers(body)
}

const inside: [what: string, pattern: RegExp][] = [
  ['a stack', /(?:\\n|\n)\s+at \S/],
  ['a source file', /node_modules|node:internal|\.[cm]?[jt]s:\d+/],
  [
    'an error of a database',
    /SQLITE_|syntax error at or near|violates \w+ constraint|no such (?:table|column)/i,
  ],
  [
    'an SQL statement',
    /\b(?:select [\w".*]+(?:, ?[\w".*]+)* from|insert into|delete from|update [\w"]+ set)\b/i,
  ],
  ['a stored hash', /\$argon2/],
  ['a version of a part', /\b(?:node(?:\.js)?|fastify|sqlite|postgres(?:ql)?|kysely|pino|undici)[ /@]v?\d/i],
]
const paths = [process.cwd(), tmpdir()]

/** An answer as sent or as received. Data belongs to the callers; only what a refusal says is judged. */
export function noteAnswer(status: number, headers: Headers | OutgoingHttpHeaders, text: string): void {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers)
  for (const [name, value] of entries) {
    if (name === 'set-cookie') noteCookies([value].flat().join('; '))
    else if (['server', 'x-powered-by', 'via', 'x-runtime'].includes(name))
      found(status, `the header ${name}`)
  }
  const body = parse(text)
  noteMembers(body)
  if (status < 400) return
  // The path comes from the caller too.
  const said = JSON.stringify({ ...body, instance: undefined })
  for (const [what, pattern] of inside) if (pattern.test(said)) found(status, `${what}: ${said}`)
  for (const path of paths) if (said.includes(path)) found(status, `a path of this machine: ${said}`)
  for (const what of secretsIn(said)) found(status, `a secret that starts with ${what}: ${said}`)
}

function found(status: number, what: string): void {
  findings.add(`an answer ${status} shows ${what.slice(0, 400)}`)
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value = text.startsWith('{') ? JSON.parse(text) : undefined
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** The first characters of each secret that the text holds. */
export function secretsIn(text: string): string[] {
  const tokens = (text.match(tokenPattern) ?? [])
    .map((token) => token.slice(0, prefixLength))
    .filter((prefix) => tokenPrefixes.has(prefix))
  const others = [...texts].filter((secret) => text.includes(secret))
  return [...new Set([...tokens, ...others])].map((secret) => secret.slice(0, 8))
}

/** Reports every request and answer of a server in this process. */
export function watchServer(server: Server): void {
  server.on('request', (request, response) => {
    noteRequest(request.headers)
    const end = response.end
    response.end = ((...given: Parameters<typeof end>) => {
      const [chunk] = given as unknown[]
      const text = typeof chunk === 'string' || Buffer.isBuffer(chunk) ? String(chunk) : ''
      noteAnswer(response.statusCode, response.getHeaders(), text)
      return end.apply(response, given)
    }) as typeof end
  })
}

/** A checkpoint is public. It starts like an access token, because the same key signed it. */
function withoutCheckpoints(log: string): string {
  return log.replaceAll(/"checkpoint":"(eyJ[\w-]+)\.[\w-]+\.[\w-]+"/g, (whole, header: string) => {
    const { typ } = JSON.parse(Buffer.from(header, 'base64url').toString())
    return typ === 'countersign-checkpoint+jwt' ? '' : whole
  })
}

/** Throws when a line of the log holds a secret, or an answer so far showed internals. */
export function assertDiscreet(logged: string): void {
  const log = withoutCheckpoints(logged)
  const leaks = secretsIn(log).map((secret) => {
    const line = log.split('\n').find((one) => secretsIn(one).includes(secret))
    return `the log holds a secret that starts with ${secret}: ${line?.slice(0, 400)}`
  })
  const told = [...findings, ...leaks]
  findings.clear()
  if (told.length > 0) throw new Error(told.join('\n'))
}
