import { eachOf } from './each.ts'
import { isPassing, NoAnswerError, ProblemError, readFailure, retryDelayMilliseconds } from './problem.ts'
import type { components, paths } from './schema.ts'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The paths that offer a method. */
type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never
}[keyof paths]
type OperationOf<P extends keyof paths, M extends Method> =
  paths[P] extends Record<M, infer Operation> ? Operation : never

/** Only the kinds of parameters that the operation has. */
type ParametersOf<O> = O extends { parameters: infer All }
  ? { [Kind in keyof All as Exclude<All[Kind], undefined> extends never ? never : Kind]: All[Kind] }
  : never
type BodyOf<O> = O extends { requestBody: { content: infer Content } }
  ? { body: ContentOf<Content> }
  : O extends { requestBody?: { content: infer Content } }
    ? { body?: ContentOf<Content> }
    : { body?: never }
type ContentOf<Content> = Content extends { 'application/json': infer Body }
  ? Body
  : Content extends { 'application/octet-stream': unknown }
    ? Blob
    : URLSearchParams

type Success = 200 | 201 | 202 | 204
type AnswerOf<O> = O extends { responses: infer All }
  ? { [Status in keyof All & Success]: JsonOf<All[Status]> }[keyof All & Success]
  : never
/** Without what only a form is answered. */
type JsonOf<Answer> = Answer extends { content: { 'application/json': infer Body } }
  ? Exclude<Body, components['schemas']['OAuthToken']>
  : undefined

type ParametersInit<Parameters> = object extends Parameters ? { params?: Parameters } : { params: Parameters }
type Init<O> = ParametersInit<ParametersOf<O>> &
  BodyOf<O> & {
    headers?: Record<string, string>
    signal?: AbortSignal
    /** Continues after its page is closed. Browsers allow 64 KiB of bodies for all such requests together. */
    keepalive?: boolean
  }
type InitArguments<O> = object extends Init<O> ? [init?: Init<O>] : [init: Init<O>]

/** A successful answer. */
export interface Exchange<Data> {
  data: Data
  response: Response
  /** The version of `data`, for `ifUnchanged`. */
  etag: string | undefined
}

type Call<M extends Method> = <P extends PathOf<M>>(
  path: P,
  ...init: InitArguments<OperationOf<P, M>>
) => Promise<Exchange<AnswerOf<OperationOf<P, M>>>>

/** The paths of paged lists. */
type ListPath = {
  [P in PathOf<'get'>]: AnswerOf<OperationOf<P, 'get'>> extends { items: unknown[] } ? P : never
}[PathOf<'get'>]
type ItemOf<P extends ListPath> =
  AnswerOf<OperationOf<P, 'get'>> extends { items: (infer Item)[] } ? Item : never
/** The media types of a stream. */
type FormOf<P extends PathOf<'get'>> = paths[P]['get'] extends {
  responses: { 200: { content: infer Content } }
}
  ? Exclude<keyof Content, 'application/json'>
  : never
/** The paths that can answer by a stream: whole lists, and the live list. */
type StreamPath = { [P in PathOf<'get'>]: FormOf<P> extends never ? never : P }[PathOf<'get'>]

/** The operations by path. Each throws `ProblemError` if it is refused, `NoAnswerError` without an answer. */
export interface Calls {
  GET: Call<'get'>
  POST: Call<'post'>
  PUT: Call<'put'>
  PATCH: Call<'patch'>
  DELETE: Call<'delete'>
  /**
   * The entries of a list. Each order that matches when its turn comes is given once, whatever changes
   * meanwhile: they are sorted by id, oldest first, unless `order` or `orderBy` says otherwise; with an
   * `orderBy` that can change, all ids are read first. Other lists are read whole before the first entry,
   * page by page: others' changes meanwhile may skip or repeat an entry.
   */
  each<P extends ListPath>(
    path: P,
    ...init: InitArguments<OperationOf<P, 'get'>>
  ): AsyncGenerator<ItemOf<P>, void>
  /** A whole list, or the live list, as a stream without a time limit. Read the body yourself. */
  export<P extends StreamPath>(
    path: P,
    form: FormOf<P>,
    ...init: InitArguments<OperationOf<P, 'get'>>
  ): Promise<Response>
}

/** Shared by all requests of a call. */
interface Asked {
  /** The token of the person who began it; '' once another is signed in, or nobody. */
  token?: () => string | undefined
}

export type Send = (request: Request, call?: Asked) => Promise<Response>

export interface Connection {
  /** The address of the service. In a browser the default is that of the page. */
  baseUrl?: string
  /** Used instead of the platform's `fetch`. */
  fetch?: (request: Request, init: RequestInit) => Promise<Response>
  /**
   * How often a call is sent again after a passing failure, 3 by default: a read, or a change with an
   * `Idempotency-Key`. It waits as long as the service asks for, at most 10 s.
   */
  retries?: number
}

/** The members that any operation may take. */
interface AnyInit {
  params?: { path?: object; query?: object; header?: object }
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
  keepalive?: boolean
  asked?: Asked
}

/** If the service asks for a longer wait, the call fails instead. */
const longestDelayMilliseconds = 10_000

/** The operations of the service by path. `send` adds a credential. */
export function callsOf({ baseUrl = '', retries = 3 }: Connection, send: Send): Calls {
  async function answerTo<T>(method: string, path: string, init: AnyInit, read: (answer: Response) => T) {
    const { asked = {} } = init
    const mayRepeat = method === 'GET' || 'Idempotency-Key' in (init.params?.header ?? {})
    for (let tries = 0; ; tries += 1) {
      const request = requestOf(method, baseUrl + path, init)
      try {
        return await read(await send(request, asked))
      } catch (cause) {
        const failure = failureOf(cause, request)
        const milliseconds = retryDelayMilliseconds(tries, failure)
        const isLast = !mayRepeat || tries === retries || milliseconds > longestDelayMilliseconds
        if (isLast || !isPassing(failure)) throw failure
        await delay(milliseconds, init.signal)
      }
    }
  }
  const call =
    (method: string) =>
    (path: string, init: AnyInit = {}) =>
      answerTo(method, path, init, exchangeOf)
  const get = call('GET')
  async function exportList(path: string, form: string, init: AnyInit = {}) {
    return answerTo('GET', path, { ...init, headers: { ...init.headers, accept: form } }, async (answer) => {
      if (!answer.ok) await exchangeOf(answer)
      return answer
    })
  }
  return {
    GET: get,
    POST: call('POST'),
    PUT: call('PUT'),
    PATCH: call('PATCH'),
    DELETE: call('DELETE'),
    each: (path: string, init?: AnyInit) => eachOf(get, path, init),
    export: exportList,
  } as unknown as Calls
}

function requestOf(
  method: string,
  template: string,
  { params = {}, body, headers, signal, keepalive = false }: AnyInit,
): Request {
  const { path = {}, query = {}, header = {} } = params
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((path as Record<string, unknown>)[name])),
  )
  const search = given(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const isRaw = body instanceof URLSearchParams || body instanceof Blob
  return new Request(search.length === 0 ? filled : `${filled}?${search.join('&')}`, {
    method,
    headers: {
      ...(body === undefined || isRaw ? {} : { 'content-type': 'application/json' }),
      ...Object.fromEntries(given(header)),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
    keepalive,
    credentials: 'same-origin',
    // Answers are revalidated by their entity tag, never taken from the cache unchecked.
    cache: 'no-cache',
  })
}

function given(parameters: object): [name: string, value: string][] {
  return Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, String(value)]],
  )
}

async function exchangeOf(response: Response): Promise<Exchange<unknown>> {
  const etag = response.headers.get('etag') ?? undefined
  const text = await response.text()
  const data = parsed(text)
  if (!response.ok) throw readFailure(response, data)
  if (data === undefined && text !== '') throw new NoAnswerError('an answer that is not JSON')
  return { data, response, etag }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Passes on known failures and aborts by the caller. Any other failure counts as a lost connection. */
function failureOf(cause: unknown, { method, url, signal, headers }: Request): unknown {
  const isKnown = cause instanceof ProblemError || signal.aborted
  if (isKnown) return cause
  const what = cause instanceof NoAnswerError ? cause.message : 'an answer that broke off'
  const idempotencyKey = headers.get('idempotency-key') ?? undefined
  return new NoAnswerError(`${what} (${method} ${url})`, { cause, idempotencyKey })
}

/** Only browsers have events of the network. */
const network = globalThis as Partial<EventTarget>

/** Waits, at most until the browser is online again. Rejects if the signal aborts. */
export function delay(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(end, milliseconds)
    network.addEventListener?.('online', end)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
    function end() {
      clearTimeout(timer)
      network.removeEventListener?.('online', end)
      signal?.removeEventListener('abort', end)
      if (signal?.aborted) reject(signal.reason)
      else resolve()
    }
  })
}

/** A request without an answer for this long counts as failed. */
const answerLimitMilliseconds = 30_000

/** Sends by the platform's fetch, with a time limit except for whole lists. */
export function sender({ fetch: own }: Connection): Send {
  return async (request) => {
    const isWhole = request.headers.has('accept')
    const limits = isWhole ? [] : [AbortSignal.timeout(answerLimitMilliseconds)]
    const signal = AbortSignal.any([request.signal, ...limits])
    try {
      return await (own ?? fetch)(request, { signal })
    } catch (failure) {
      // The caller aborted it: not a failure of the service.
      if (request.signal.aborted) throw failure
      throw new NoAnswerError('no answer', { cause: failure })
    }
  }
}

/** The body of a successful answer. */
export async function answerOf<Data>(call: Promise<Exchange<Data>>): Promise<Data> {
  return (await call).data
}

/** Header of a change that is made only if what was read is unchanged (else `precondition-failed`). */
export function ifUnchanged({ etag }: { etag: string | undefined }): { 'If-Match': string } {
  if (etag === undefined) throw new Error('what was read has no version')
  return { 'If-Match': etag }
}
