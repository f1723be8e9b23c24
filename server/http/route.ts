import type { IncomingMessage, ServerResponse } from 'node:http'
import type {
  ContextConfigDefault,
  FastifyBaseLogger,
  FastifyContextConfig,
  FastifyInstance,
  RawServerDefault,
  RouteGenericInterface,
  RouteHandlerMethod,
  RouteOptions,
} from 'fastify'
import type { Access } from '../caller/permissions.ts'
import type { Principal } from '../caller/principal.ts'
import type { ProblemCode } from '../problems/catalogue.ts'
import { Problem } from '../problems/problems.ts'
import { type FieldsTypeProvider, noContent } from './fields.ts'
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
  /** By caller, as a read whatever the method. A handler that then changes something also counts a write. */
  | 'read'
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

/** Sent to every cookie caller that was admitted. */
export const sessionExpiry = [
  header(
    'Session-Idle-Expires',
    'When the session ends unless it is used. Sent to cookie callers whose session continues.',
    { format: 'date-time' },
  ),
  header(
    'Session-Expires',
    'When the session ends at the latest. Sent to cookie callers whose session continues.',
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
    /** A caller without the permission may stand in for an absent person who holds it. */
    byDeputies?: boolean
    /** On a public route: pages of other sites cannot send the request. */
    sameSiteOnly?: boolean
    /** A 401 clears a session cookie that no longer works. */
    clearsStaleCookie?: boolean
    /** Problems of the operation besides those implied by its access, limit and body. */
    problems?: readonly ProblemCode[]
    /** The answer to a form, which is JSON as well. */
    formAnswer?: Schema
    /** Statuses of this operation where they are not those of the catalogue. */
    problemStatus?: Partial<Record<ProblemCode, number>>
    /** A long request that the app makes by itself: it does not count as use of the session. */
    isBackground?: boolean
    /** Media types of a successful answer that is not JSON. */
    mediaTypes?: readonly string[]
    /** Media types that `Accept` can ask for instead of JSON. */
    exports?: readonly ExportType[]
    /** Schema of the text that `Accept: text/plain` asks for instead of JSON. */
    textForm?: Schema
    /** A failure in the form of another standard, as JSON: its schema, and its statuses if not all. */
    jsonFailure?: { schema: Schema; statuses?: readonly number[] }
    /** Any cache may keep successful answers, so they say nothing about the request (shared-caches.ts). */
    isForAll?: boolean
    /** The body is bytes of any media type, which the handler reads (bytes.ts). */
    takesBytes?: boolean
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

/** Gives a handler the types of its route's schemas. */
type Handler<Body, Query, Answers> = RouteHandlerMethod<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  RouteGenericInterface,
  ContextConfigDefault,
  { body: Body; querystring: Query; response: Answers },
  FieldsTypeProvider,
  FastifyBaseLogger
>

/** Says of a route its purpose, who may call it, its input, and how it answers or refuses. */
interface Declaration<Parts, Body, Query, Answers>
  extends FastifyContextConfig,
    Pick<RouteOptions, 'onSend' | 'errorHandler'> {
  summary: string
  description: string
  body?: Body
  querystring?: Query
  /** Without it, the answer is 204 once the handler has done its work. */
  response?: Answers
  handler: (
    parts: Parts,
    ...exchange: Parameters<Handler<Body, Query, Answers>>
  ) => ReturnType<Handler<Body, Query, Answers>>
}

/** Routes by operationId. `register` adds them to the app. */
export type Routes<Parts> = Record<string, Route<Parts>>
type Route<Parts> = (app: App, parts: Parts, identity: { operationId: string; tags: string[] }) => void

const nothing = { 204: noContent }

async function done(work: unknown, reply: { code(status: 204): { send(body: never): unknown } }) {
  await work
  return reply.code(204).send(undefined as never)
}

/** A route at an address such as `GET /v1/orders/:id`. */
export function route<
  Parts,
  Body extends Schema,
  Query extends Schema,
  Answers extends Record<number, Schema> = typeof nothing,
>(address: `${string} /${string}`, declaration: Declaration<Parts, Body, Query, Answers>): Route<Parts> {
  const [method = '', url = ''] = address.split(' ')
  const { summary, description, body, querystring, response = nothing, ...others } = declaration
  const { handler, onSend, errorHandler, ...config } = others
  const about = { summary, description, response, ...(body && { body }), ...(querystring && { querystring }) }
  const hooks = { ...(onSend && { onSend }), ...(errorHandler && { errorHandler }) }
  return (app, parts, identity) =>
    app.route({
      method,
      url,
      config,
      schema: { ...identity, ...about },
      ...hooks,
      handler: (request, reply) => {
        const answer = handler(parts, request as never, reply as never)
        return (response === nothing ? done(answer, reply) : answer) as never
      },
    })
}

export function register<Parts>(app: App, tag: string, routes: Routes<Parts>, parts: Parts): void {
  for (const [operationId, add] of Object.entries(routes)) add(app, parts, { operationId, tags: [tag] })
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

/** The caller that the guard admitted. Throws `authentication-required` on a public route, which has none. */
export function callerOf({ principal }: { principal: Principal | null }): Principal {
  if (principal === null) throw new Problem('authentication-required')
  return principal
}
