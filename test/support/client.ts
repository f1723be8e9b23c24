import assert from 'node:assert/strict'
import { noteAnswer, noteRequest } from './discretion.ts'

/** An answer as a test looks at it; `body` is parsed JSON, or undefined for an empty one. */
export interface Answer {
  status: number
  headers: Headers
  setCookies: string[]
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any
}

export const sessionCookie = '__Host-Http-session'
export const csrfCookie = '__Host-Http-csrf'
/** Holds a token for scripts to send. */
export const readableCookie = 'XSRF-TOKEN'

/** The session id that the browser has. */
export const sessionOf = (browser: Client) => browser.cookies.get(sessionCookie) ?? ''

/** The cookies that an answer sets, without the readable one, which holds a fresh token each time. */
export const hiddenCookies = ({ setCookies }: Answer) =>
  setCookies.filter((line) => !line.startsWith(`${readableCookie}=`))

/**
 * Asserts that the answer sets only this cookie, besides the readable one: 256 random bits, kept from
 * scripts, other sites and plain HTTP.
 */
export function assertCookieSet(answer: Answer, name: string): void {
  const lines = hiddenCookies(answer)
  assert.equal(lines.length, 1)
  const [pair = '', ...attributes] = (lines[0] ?? '').split('; ')
  assert.match(pair, new RegExp(`^${name}=[A-Za-z0-9_-]{43}$`))
  assert.deepEqual(attributes.sort(), ['HttpOnly', 'Path=/', 'SameSite=Strict', 'Secure'])
}

const isRaw = (body: unknown): body is string | Uint8Array<ArrayBuffer> =>
  typeof body === 'string' || body instanceof Uint8Array

/** A caller over real HTTP. It keeps cookies as a browser would, and sends the headers that the test sets. */
export class Client {
  readonly baseUrl: string
  readonly cookies = new Map<string, string>()
  readonly headers: Record<string, string> = {}

  constructor(baseUrl: string) {
    this.baseUrl = baseUrl
  }

  /** Another caller that starts with the same cookies and headers: a second tab, or a thief. */
  copy(): Client {
    const copy = new Client(this.baseUrl)
    for (const [name, value] of this.cookies) copy.cookies.set(name, value)
    Object.assign(copy.headers, this.headers)
    return copy
  }

  /** Another caller that shows this session id. */
  withSession(id: string): Client {
    const other = this.copy()
    other.cookies.set(sessionCookie, id)
    return other
  }

  withBearer(token: string): this {
    this.headers.authorization = `Bearer ${token}`
    return this
  }

  /** Makes every later request carry a fresh antiforgery token. */
  async fetchAntiforgeryToken(): Promise<string> {
    const { body } = await this.get('/v1/auth/csrf')
    this.headers['x-xsrf-token'] = body.token
    return body.token
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('GET', path, undefined, headers)
  }

  post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('POST', path, body, headers)
  }

  patch(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('PATCH', path, body, headers)
  }

  /** A string is sent unchanged. */
  postForm(
    path: string,
    form: string | Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const text = typeof form === 'string' ? form : String(new URLSearchParams(form))
    noteRequest({}, Object.fromEntries(new URLSearchParams(text)))
    return this.post(path, text, { 'content-type': 'application/x-www-form-urlencoded', ...headers })
  }

  /**
   * A string or bytes are sent unchanged, anything else as JSON. The default media type is application/json.
   */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const sent = {
      ...(cookie === '' ? {} : { cookie }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...this.headers,
      ...headers,
    }
    noteRequest(sent, body)
    const response = await fetch(`${this.baseUrl}${path}`, {
      method,
      redirect: 'manual',
      headers: sent,
      ...(body === undefined ? {} : { body: isRaw(body) ? body : JSON.stringify(body) }),
    })
    const text = await textOf(response)
    noteAnswer(response.status, response.headers, text)
    const setCookies = response.headers.getSetCookie()
    for (const line of setCookies) keep(this.cookies, line)
    return { status: response.status, headers: response.headers, setCookies, text, body: parse(text) }
  }
}

function keep(cookies: Map<string, string>, line: string): void {
  const [pair = ''] = line.split(';')
  const separator = pair.indexOf('=')
  const name = pair.slice(0, separator)
  if (/max-age=0/i.test(line)) cookies.delete(name)
  else cookies.set(name, pair.slice(separator + 1))
}

/** The beginning of a stream, which never ends. */
async function textOf(response: Response): Promise<string> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  if (!isStream || response.body === null) return response.text()
  const reader = response.body.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** True for the error of a call whose connection ended before the whole answer had arrived. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof TypeError && /^(fetch failed|terminated)$/.test(error.message)
}

/**
 * For `catch`. Passes if nothing listens any more, or the system accepted a connection that nobody will
 * read.
 */
export function assertUnanswered(error: unknown): undefined {
  assert.ok(isUnanswered(error), String(error))
}
