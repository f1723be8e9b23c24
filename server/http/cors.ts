import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RequestLimits } from './rate-limit.ts'
import type { App } from './route.ts'

const allowedHeaders =
  'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Time-Zone, Prefer, X-Request-Id, traceparent'
const exposedHeaders =
  'ETag, Location, Link, Retry-After, RateLimit, RateLimit-Policy, Idempotency-Replayed, X-Request-Id'
const preflightMaxAgeSeconds = 600

/** For bearer callers only: `Access-Control-Allow-Credentials` is never sent, so no cookie ever comes along. */
export function registerCors(app: App, origins: readonly string[], limits: RequestLimits): void {
  if (origins.length === 0) return
  const methods = new Set<string>()
  app.addHook('onRoute', ({ method }) => {
    for (const one of [method].flat()) methods.add(one)
  })
  app.addHook('onRequest', async (request, reply) => {
    const origin = request.raw.headers.origin
    if (origin === undefined || !origins.includes(origin)) return undefined
    reply.header('access-control-allow-origin', origin)
    reply.header('access-control-expose-headers', exposedHeaders)
    if (!isPreflight(request)) return undefined
    limits.consume('anonymous', request.clientAddress, reply)
    return answerPreflight(reply, methods)
  })
}

function isPreflight(request: FastifyRequest): boolean {
  return request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
}

function answerPreflight(reply: FastifyReply, methods: Set<string>): FastifyReply {
  return reply
    .code(204)
    .header('access-control-allow-methods', [...methods].join(', '))
    .header('access-control-allow-headers', allowedHeaders)
    .header('access-control-max-age', String(preflightMaxAgeSeconds))
    .send()
}
