import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Config } from '../config.ts'
import { newOpaqueId } from '../ids.ts'
import { Problem } from '../problems/problems.ts'
import { isLoopbackHost } from '../setting.ts'
import { limitKey, reportedAddress } from './rate-limit.ts'
import type { App } from './route.ts'

const requestIdPattern = /^[A-Za-z0-9._-]{8,128}$/
const traceparentPattern = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

export const urlLimitBytes = 8 * 1024
export const headerBlockLimitBytes = 16 * 1024
/**
 * The parser's own limit. It lies above ours, so that a long URL gets 414 and long headers 431. It lies below
 * the size of a first packet, which still shows which of the two the parser refused.
 */
export const parserHeaderLimitBytes = 32 * 1024

/** A well-formed `X-Request-Id` is kept; otherwise the request gets a new id. */
export function requestId(raw: IncomingMessage): string {
  const given = raw.headers['x-request-id']
  return typeof given === 'string' && requestIdPattern.test(given) ? given : newOpaqueId()
}

/** The trace that the caller began (W3C Trace Context). Every log line of the request carries it. */
export function traceOf(
  raw: IncomingMessage,
): { traceId: string; parentId: string; flags: string } | undefined {
  const given = raw.headers.traceparent
  const match = typeof given === 'string' ? traceparentPattern.exec(given) : null
  const [, traceId, parentId, flags] = match ?? []
  if (traceId === undefined || parentId === undefined || flags === undefined) return undefined
  return { traceId, parentId, flags }
}

/** The first hooks of every request: id, address and trace, and in development the host. */
export function registerRequestContext(app: App, config: Config): void {
  app.decorateRequest('principal', null)
  app.decorateRequest('clientAddress', '')
  app.decorateRequest('trace', null)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    request.clientAddress = limitKey(reportedAddress(request.ip, request.socket.remoteAddress ?? ''))
    const trace = traceOf(request.raw)
    if (trace !== undefined) {
      const { traceId, flags } = trace
      const spanId = randomBytes(8).toString('hex')
      reply.header('traceparent', `00-${traceId}-${spanId}-${flags}`)
      request.trace = { traceId, spanId }
      request.log = request.log.child(request.trace)
    }
    done()
  })
  if (config.development && !config.allowRemoteDemo) {
    app.addHook('onRequest', (request, _reply, done) => {
      const { host } = request.raw.headers
      const isForeign = host !== undefined && !isLoopbackHost(hostnameOf(host))
      done(isForeign ? new Problem('misdirected-request') : undefined)
    })
  }
}

/** Each field of the name, which is in lower case. Node keeps the first of some, and joins others. */
export function fieldsOf({ headers, rawHeaders }: IncomingMessage, name: string): string[] {
  const fields: string[] = []
  if (headers[name] === undefined) return fields
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const each = rawHeaders[index] ?? ''
    if (each.length === name.length && each.toLowerCase() === name) fields.push(rawHeaders[index + 1] ?? '')
  }
  return fields
}

/** Throws 414, 431, or 400 for a request without exactly one Host (RFC 9112 §3.2). */
export function assertWellFormed(raw: IncomingMessage): void {
  if ((raw.url?.length ?? 0) > urlLimitBytes) throw new Problem('uri-too-long')
  const { rawHeaders } = raw
  let bytes = 0
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    bytes += name.length + (rawHeaders[index + 1]?.length ?? 0) + 4
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  if (bytes > headerBlockLimitBytes) throw new Problem('headers-too-large')
  if (hosts > 1 || (hosts === 0 && raw.httpVersion !== '1.0')) {
    throw new Problem('bad-request', { detail: 'A request must have exactly one Host header.' })
  }
}

/**
 * The request target as the router sees it. A path with a broken escape is taken literally: it then gets the
 * checks and headers of any other unknown path, instead of failing before them.
 */
export function routableUrl(raw: IncomingMessage): string {
  const url = originForm(raw)
  if (!url.includes('%')) return url
  const end = url.indexOf('?')
  const path = end < 0 ? url : url.slice(0, end)
  return isDecodable(path) ? url : `${path.replaceAll('%', '%25')}${url.slice(path.length)}`
}

export function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/** Reduces the absolute form of a request target to its path (RFC 9112 §3.2.2). */
function originForm(raw: IncomingMessage): string {
  const url = raw.url ?? '/'
  if (url.startsWith('/')) return url
  const path = /^https?:\/\/[^/?#]*([/?].*)?$/i.exec(url)
  if (path === null) return url
  return path[1]?.startsWith('/') ? path[1] : `/${path[1] ?? ''}`
}

function hostnameOf(host: string): string {
  return host.replace(/:\d*$/, '').toLowerCase()
}
