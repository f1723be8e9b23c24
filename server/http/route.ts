import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault, RouteOptions } from 'fastify'
import type { Access } from '../permissions.ts'
import type { Principal } from '../principal.ts'
import type { FieldsTypeProvider } from './fields.ts'
import { Problem, type ProblemCode } from './problems.ts'
import type { Schema } from './schema.ts'

/** The application as slices see it: handlers get what `fields.ts` parsed. */
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
  /** By session and by address. */
  | 'sessionRefresh'
  /** The route counts it, because only the route knows whether there is a session. */
  | 'own'
  | 'exempt'

/** Media types of whole lists (export.ts). */
export type ExportType = 'application/jsonl' | 'text/csv'

/** A header that an operation reads or sends, for the description. */
export interface HeaderDescription {
  name: string
  description: string
  schema: Record<string, unknown>
  /** For a request header: a request without it is refused. */
  required?: true
}

/** A header that holds text. */
export function header(name: string, description: string, keywords: object = {}): HeaderDescription {
  return { name, description, schema: { type: 'string', ...keywords } }
}

/** Every cookie caller may send it. */
export const backgroundHeader = header(
  'Background',
  '`?1` marks a request that nobody asked for, such as a prefetch. From a cookie caller it does not count as use of the session.',
  { enum: ['?1', '?0'], example: '?1' },
)

export const locationHeader = header('Location', 'Path of what was added.')

/** Sent to every cookie caller that was let in. */
export const sessionExpiry = [
  header(
    'Session-Idle-Expires',
    'When the session ends unless it is used. Sent to cookie callers whose session goes on.',
    { format: 'date-time' },
  ),
  header(
    'Session-Expires',
    'When the session ends at the latest. Sent to cookie callers whose session goes on.',
    { format: 'date-time' },
  ),
]

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Required: the service does not start if a route lacks it (auth/guard.ts). */
    access?: Access
    limit?: LimitPolicy
    /** The caller must have given their password in the last five minutes. A service never has. */
    needsRecentSignIn?: boolean
    /** On a public route: pages of other sites cannot send the request. */
    sameSiteOnly?: boolean
    /** A 401 clears a session cookie that no longer works. */
    clearsStaleCookie?: boolean
    /** Problems of the operation besides those that its access, limit and body imply. */
    problems?: readonly ProblemCode[]
    /** A long request that the app makes by itself: it does not count as use of the session. */
    isBackground?: boolean
    /** Media type of a successful answer that is not JSON. */
    mediaType?: string
    /** Media types that `Accept` can ask for instead of JSON. */
    exports?: readonly ExportType[]
    /** Schema of a failure if the body came as a form. */
    formFailure?: Schema
    /** Any cache may keep successful answers, so they say nothing about the request (shared-caches.ts). */
    isForAll?: boolean
    requestHeaders?: readonly HeaderDescription[]
    /** By status. */
    responseHeaders?: Record<number, readonly HeaderDescription[]>
    parameters?: Record<string, Record<string, unknown>>
    /** Not in the OpenAPI description. */
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
    /** The address that limits count by; for IPv6 its /64. */
    clientAddress: string
    /** The caller's trace and our span in it, for the log. */
    trace: { traceId: string; spanId: string } | null
    /** Code of the problem in the answer, for the log. */
    problem: ProblemCode | null
  }
}

/** The routes to describe. Call it before the first route: the list fills as routes are registered. */
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
