import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Config } from '../config.ts'
import { isLoopbackHost } from '../config.ts'
import { newOpaqueId } from '../ids.ts'
import { Problem } from './problems.ts'
import { limitKey } from './rate-limit.ts'
import type { App } from './route.ts'

const requestIdPattern = /^[A-Za-z0-9._-]{8,128}$/
const traceparentPattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

export const urlLimitBytes = 8 * 1024
export const headerBlockLimitBytes = 16 * 1024
/** The parser's own limit lies above ours, so that ours can tell a long URL (414) from long headers (431). */
export const parserHeaderLimitBytes = 64 * 1024

/** `X-Request-Id` is taken over if it is well-formed, else one is made. */
export function requestId(raw: IncomingMessage): string {
  const given = raw.headers['x-request-id']
  return typeof given === 'string' && requestIdPattern.test(given) ? given : newOpaqueId()
}

/** What every log line of a request carries besides its id: the trace that its caller began (W3C Trace Context). */
export function traceOf(
  raw: IncomingMessage,
): { traceId: string; parentId: string; flags: string } | undefined {
  const given = raw.headers.traceparent
  const match = typeof given === 'string' ? traceparentPattern.exec(given) : null
  const [, traceId, parentId, flags] = match ?? []
  if (traceId === undefined || parentId === undefined || flags === undefined) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined
  return { traceId, parentId, flags }
}

/** The first hook of every request: identity, sizes, host. Refusals here are counted by the address limit. */
export function registerRequestContext(app: App, config: Config): void {
  app.decorateRequest('principal', null)
  app.decorateRequest('clientAddress', '')
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    request.clientAddress = limitKey(request.ip)
    const trace = traceOf(request.raw)
    if (trace !== undefined) {
      const spanId = randomBytes(8).toString('hex')
      reply.header('traceparent', `00-${trace.traceId}-${spanId}-${trace.flags}`)
      request.log = request.log.child({ traceId: trace.traceId, spanId })
    }
  })
  if (config.development && !config.allowRemoteDemo) {
    app.addHook('onRequest', async (request) => {
      if (!isLoopbackHost(hostnameOf(request.raw.headers.host))) throw new Problem('misdirected-request')
    })
  }
}

/** Throws 414 or 431; the header block is counted as it stood on the wire. */
export function assertSizes(raw: IncomingMessage): void {
  if ((raw.url?.length ?? 0) > urlLimitBytes) throw new Problem('uri-too-long')
  let bytes = 0
  for (const text of raw.rawHeaders) bytes += text.length + 2
  if (bytes > headerBlockLimitBytes) throw new Problem('headers-too-large')
}

function hostnameOf(host: string | undefined): string {
  return (host ?? '').replace(/:\d*$/, '').toLowerCase()
}
