import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RequestLimits } from './rate-limit.ts'
import { type App, backgroundHeader } from './route.ts'

/** In addition to those that routes declare. */
const alwaysAllowed = ['Authorization', 'Content-Type', 'X-Request-Id', 'traceparent', backgroundHeader.name]
const exposedHeaders =
  'Content-Disposition, ETag, Last-Event-ID, Location, Link, Preference-Applied, Retry-After, RateLimit, RateLimit-Policy, Idempotency-Replayed, Waits-For-Nobody, WWW-Authenticate, X-Request-Id'
const preflightMaxAgeSeconds = 600

/** For bearer callers only: `Access-Control-Allow-Credentials` is never sent, so browsers send no cookie. */
export function registerCors(app: App, origins: readonly string[], limits: RequestLimits): void {
  if (origins.length === 0) return
  const methods = new Set<string>()
  const headers = new Set(alwaysAllowed)
  app.addHook('onRoute', ({ method, config }) => {
    for (const one of [method].flat()) methods.add(one)
    for (const { name } of config?.requestHeaders ?? []) headers.add(name)
  })
  app.addHook('onRequest', async (request, reply) => {
    const origin = request.raw.headers.origin
    if (origin === undefined || !origins.includes(origin)) return undefined
    reply.header('access-control-allow-origin', origin)
    reply.header('access-control-expose-headers', exposedHeaders)
    if (!isPreflight(request)) return undefined
    limits.consume('anonymous', request.clientAddress, reply)
    return answerPreflight(reply, methods, headers)
  })
}

function isPreflight(request: FastifyRequest): boolean {
  return request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
}

function answerPreflight(reply: FastifyReply, methods: Set<string>, headers: Set<string>): FastifyReply {
  return reply
    .code(204)
    .header('access-control-allow-methods', [...methods].join(', '))
    .header('access-control-allow-headers', [...headers].join(', '))
    .header('access-control-max-age', String(preflightMaxAgeSeconds))
    .send()
}
