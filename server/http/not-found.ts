import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../problems/problems.ts'
import { pathOf, sendProblem } from './errors.ts'
import type { RequestLimits } from './rate-limit.ts'
import type { App } from './route.ts'

/** Under these, an unknown route is a problem and never a page (section 7 of the contract). */
const apiPrefixes = ['/v1', '/health', '/.well-known', '/openapi', '/scalar']

export interface FallThrough {
  limits: RequestLimits
  publicUrl: () => string
  /** Answers a GET or HEAD outside the API with the web app. */
  sendPage(request: FastifyRequest, reply: FastifyReply, path: string): FastifyReply | Promise<FastifyReply>
}

/**
 * Answers what no route takes. A path that has other methods gets 405 with `Allow`, or 204 for OPTIONS. A GET
 * outside the API gets the web app, and everything else 404.
 */
export function registerNotFound(app: App, { limits, publicUrl, sendPage }: FallThrough): void {
  const byUrl = new Map<string, { pattern: RegExp; methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }) => {
    const known = byUrl.get(url) ?? { pattern: patternOf(url), methods: new Set() }
    byUrl.set(url, known)
    for (const one of [method].flat()) known.methods.add(one)
  })

  /** Before the body is read: 404 and 405 come before 415, 413 and 400 (section 6 of the contract). */
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) answer(request, reply).catch(done)
    else done()
  })
  app.setNotFoundHandler(answer)

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const url = pathOf(request.raw.url)
    const path = decodeURIComponent(url)
    const isPage = isOutsideApi(path) && isRead(request.method)
    limits.consume(isPage ? 'static' : 'anonymous', request.clientAddress, reply)
    const methods = findMethods(url)
    if (methods !== undefined) return answerKnownPath(request, reply, methods)
    if (isPage) return sendPage(request, reply, path)
    return sendProblem(new Problem('route-not-found'), request, reply, publicUrl())
  }

  /** Matches as the router does: an escaped slash separates no segments (`decodeURI` keeps it). */
  function findMethods(url: string): Set<string> | undefined {
    const path = decodeURI(url)
    const fits = ({ pattern }: { pattern: RegExp }) => pattern.test(path)
    // `/v1/orders/decisions` also looks like one of `/v1/orders/:id`.
    return (byUrl.get(path.replace(/\/$/, '')) ?? byUrl.values().find(fits))?.methods
  }

  function answerKnownPath(request: FastifyRequest, reply: FastifyReply, methods: Set<string>): FastifyReply {
    reply.header('allow', [...methods, 'OPTIONS'].join(', '))
    if (request.method === 'OPTIONS') return reply.code(204).send()
    return sendProblem(new Problem('method-not-allowed'), request, reply, publicUrl())
  }
}

function patternOf(url: string): RegExp {
  const escaped = url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')
  return new RegExp(`^${escaped}/?$`)
}

function isOutsideApi(path: string): boolean {
  return !apiPrefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}
