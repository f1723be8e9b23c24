import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault, RouteOptions } from 'fastify'
import type { Access } from '../permissions.ts'
import type { Principal } from '../principal.ts'
import type { FieldsTypeProvider } from './fields.ts'
import { Problem, type ProblemCode } from './problems.ts'
import type { Schema } from './schema.ts'

/** The application as slices see it: Fastify whose handlers get what `fields.ts` parsed. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  FieldsTypeProvider
>

/** Which request limit applies before the handler runs (section 8 of the contract). */
export type LimitPolicy =
  | 'exchange'
  | 'refreshAddress'
  /** By session, and by address. */
  | 'sessionRefresh'
  /** Counted by the route itself, because it alone knows whether there is a session. */
  | 'own'
  | 'exempt'

/** Forms in which a list can be had whole (export.ts). */
export type ExportType = 'application/jsonl' | 'text/csv'

/** A header that an operation reads or sends, for the description. */
export interface HeaderDescription {
  name: string
  description: string
  schema: Record<string, unknown>
  /** Of a request: it is refused without. */
  required?: true
}

/** Of every cookie caller. */
export const backgroundHeader: HeaderDescription = {
  name: 'Background',
  description:
    '`?1` marks a request that nobody asked for, such as a prefetch. From a cookie caller it does not count as use of the session.',
  schema: { type: 'string', enum: ['?1', '?0'], example: '?1' },
}

export const locationHeader: HeaderDescription = {
  name: 'Location',
  description: 'Path of what was added.',
  schema: { type: 'string' },
}

/** To every cookie caller who has been let in. */
export const sessionExpiry: HeaderDescription[] = [
  {
    name: 'Session-Idle-Expires',
    description: 'When the session ends unless it is used. Sent to cookie callers whose session goes on.',
    schema: { type: 'string', format: 'date-time' },
  },
  {
    name: 'Session-Expires',
    description: 'When the session ends at the latest. Sent to cookie callers whose session goes on.',
    schema: { type: 'string', format: 'date-time' },
  },
]

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Required on every route; the service does not start without (auth/guard.ts). */
    access?: Access
    limit?: LimitPolicy
    /** Only for those who gave their password in the last five minutes; never for a service. */
    needsRecentSignIn?: boolean
    /** On a public route: a foreign page may not send the request. */
    sameSiteOnly?: boolean
    /** A 401 takes away a session cookie that no longer serves. */
    clearsStaleCookie?: boolean
    /** Problems that this operation can answer besides those that its access, limit and body imply. */
    problems?: readonly ProblemCode[]
    /** Of what is asked by itself for long: no use of a session. */
    isBackground?: boolean
    /** Of a good answer that is not JSON. */
    mediaType?: string
    /** Forms other than JSON in which the answer can be had, by Accept. */
    exports?: readonly ExportType[]
    /** What else a failure is answered with, where the body came as a form. */
    formFailure?: Schema
    /** Good answers may be kept by any cache, and so say nothing of the request (shared-caches.ts). */
    isForAll?: boolean
    requestHeaders?: readonly HeaderDescription[]
    /** By status. */
    responseHeaders?: Record<number, readonly HeaderDescription[]>
    parameters?: Record<string, Record<string, unknown>>
    /** Left out of the OpenAPI description. */
    undocumented?: boolean
  }
  interface FastifySchema {
    operationId?: string
    summary?: string
    description?: string
    tags?: readonly string[]
  }
  interface FastifyRequest {
    /** The caller, once the guard has let it through; null on public routes. */
    principal: Principal | null
    /** Address that limits count by: IPv6 by /64. */
    clientAddress: string
    /** The trace that the caller began, and our part of it, for the log. */
    trace: { traceId: string; spanId: string } | null
    /** Code of the problem that was answered, for the log. */
    problem: ProblemCode | null
  }
}

/** The routes that are described. The list fills as they are registered: call this before the first. */
export function collectRoutes(app: App): RouteOptions[] {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    const isOwn = route.method !== 'HEAD' && route.config?.undocumented !== true
    if (isOwn && route.schema?.operationId !== undefined) routes.push(route)
  })
  return routes
}

/** The caller whom the guard let in. Throws `authentication-required` on a public route, which has none. */
export function callerOf({ principal }: { principal: Principal | null }): Principal {
  if (principal === null) throw new Problem('authentication-required')
  return principal
}
