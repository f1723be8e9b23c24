import { STATUS_CODES } from 'node:http'
import type { FastifyContextConfig, RouteOptions } from 'fastify'
import { isPermission } from '../caller/permissions.ts'
import { catalogue, type ProblemCode } from '../problems/catalogue.ts'
import { Components, type Json } from './components.ts'
import { factsOf } from './fields.ts'
import { formType } from './form-text.ts'
import { problemSchema } from './problem-schema.ts'
import { backgroundHeader, type HeaderDescription, header, sessionExpiry } from './route.ts'
import { exampleOf, type Schema } from './schema.ts'

/** The OpenAPI 3.1 description, made from what the routes declare: schema, access, limit, problems. */
export function describeApi(routes: readonly RouteOptions[], serverUrl: string): Json {
  const components = new Components()
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = route.url.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = {
      ...paths[path],
      [String(route.method).toLowerCase()]: describeOperation(route, components),
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Countersign',
      version: '1.0.0',
      description: 'Orders that need approval, with its own sign-in for browsers, apps and services.',
      contact: { name: 'The operator of this service', url: serverUrl },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    tags: [
      { name: 'Orders', description: 'Create, list, read and approve orders.' },
      { name: 'Views', description: 'Lists of orders that people save under a name.' },
      {
        name: 'Agents',
        description: 'The Model Context Protocol, for programs that propose orders.',
      },
      { name: 'Webhooks', description: 'Events of the log, sent to addresses of yours.' },
      { name: 'Log', description: 'The log of all changes, and signed statements about it.' },
      { name: 'Authentication', description: 'Sessions, token pairs and client credentials.' },
      { name: 'Own account', description: 'Your sign-ins and your password.' },
      {
        name: 'Administration',
        description: 'Users, service clients and roles, for people who manage accounts.',
      },
      { name: 'Operations', description: 'Probes and public keys.' },
    ],
    paths,
    components: { ...components.describe(), securitySchemes },
  }
}

const securitySchemes = {
  cookieSession: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-Http-session',
    description:
      'Session cookie from POST /v1/auth/session. Unsafe requests also need the antiforgery token.',
  },
  antiforgery: {
    type: 'apiKey',
    in: 'header',
    name: 'X-XSRF-TOKEN',
    description: 'Token from GET /v1/auth/csrf. Only unsafe requests with the session cookie need it.',
  },
  bearerAuth: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'Access token from POST /v1/auth/token or POST /v1/auth/clients/token. Where a tool asks for it, give the raw token without the word Bearer.',
  },
}

/** Undefined members do not appear, because the description is sent and written as JSON. */
function describeOperation(route: RouteOptions, components: Components): Json {
  const { schema = {}, config = {} } = route
  return {
    operationId: schema.operationId,
    summary: schema.summary,
    description: schema.description,
    tags: schema.tags,
    security: securityOf(route),
    'x-access': config.access,
    'x-recent-sign-in': config.needsRecentSignIn,
    parameters: [
      ...Object.entries(config.parameters ?? {}).map(([name, value]) => ({
        name,
        in: 'path',
        required: true,
        ...value,
      })),
      ...queryParameters(schema.querystring, components),
      ...headersTaken(config).map((header) => {
        const parameter = { required: false, ...header, in: 'header' }
        return components.part('parameters', parameter, header.name)
      }),
    ],
    requestBody: config.takesBytes
      ? bytes
      : schema.body && {
          required: !factsOf(schema.body).isOptionalBody,
          content: bodiesOf(schema.body, components),
        },
    responses: { ...successes(route, components), ...failures(route, components) },
  }
}

function securityOf(route: RouteOptions): object[] {
  const access = route.config?.access
  if (access === 'public') return []
  if (access === 'bearer') return [{ bearerAuth: [] }]
  const isRead = route.method === 'GET'
  const cookie = isRead ? { cookieSession: [] } : { cookieSession: [], antiforgery: [] }
  return access === 'session' ? [cookie] : [{ bearerAuth: [] }, cookie]
}

function queryParameters(querystring: unknown, components: Components): object[] {
  const { properties = {}, required = [] } = (querystring ?? {}) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) =>
    components.part(
      'parameters',
      {
        name,
        in: 'query',
        required: required.includes(name),
        description: schema.description,
        schema: components.schema(schema),
        example: exampleOf(schema),
      },
      name,
    ),
  )
}

function contentOf(schema: unknown, components: Components, mediaType = 'application/json'): Json {
  return { [mediaType]: { schema: components.schema(schema), example: exampleOf(schema) } }
}

/** Bytes of any media type. */
const bytes = {
  required: true,
  content: {
    'application/octet-stream': { schema: { type: 'string', format: 'binary' }, example: '%PDF-1.7' },
  },
}

function bodiesOf(schema: unknown, components: Components): Json {
  const { form } = factsOf(schema)
  return {
    ...(form === schema ? {} : contentOf(schema, components)),
    ...(form === undefined ? {} : contentOf(form, components, formType)),
  }
}

/** An export has the items of the pages, one a line. */
function exportsOf({ config }: RouteOptions, page: unknown): Json {
  const schema = {
    type: 'string',
    description: 'The whole list, as a stream. Paging parameters are ignored.',
  }
  return Object.fromEntries(
    (config?.exports ?? []).map((type) => [type, { schema, example: linesOf(exampleOf(page)) }]),
  )
}

function linesOf(page: unknown): string {
  const { items } = page as { items: unknown[] }
  return items.map((item) => `${JSON.stringify(item)}\n`).join('')
}

function successes(route: RouteOptions, components: Components): Json {
  const { response = {} } = route.schema ?? {}
  return Object.fromEntries(
    Object.entries(response as Record<string, Json>).map(([status, schema]) => [
      status,
      describeSuccess(Number(status), schema, components, route),
    ]),
  )
}

function describeSuccess(status: number, schema: Json, components: Components, route: RouteOptions): object {
  const { isForAll, limit, mediaTypes = ['application/json'] } = route.config ?? {}
  const description = STATUS_CODES[status] ?? ''
  const headers = describeHeaders(
    [
      ...(isForAll ? [] : [requestIdHeader]),
      ...(isForAll || limit === 'exempt' ? [] : rateLimitHeaders),
      ...headersOf(route, status),
    ],
    components,
  )
  if (schema.type === 'null') {
    const names = answerNames([description], status, route)
    return components.part('responses', { description, headers }, ...names)
  }
  const { textForm, formAnswer } = route.config ?? {}
  const oneOf = [schema, formAnswer].map((one) => components.schema(one))
  const content = {
    ...Object.assign({}, ...mediaTypes.map((type) => contentOf(schema, components, type))),
    ...(formAnswer && { 'application/json': { schema: { oneOf }, example: exampleOf(schema) } }),
    ...exportsOf(route, schema),
    ...(textForm && contentOf(textForm, components, 'text/plain')),
  }
  return { description, headers, content }
}

const crossSiteProblems = ['csrf-token-missing', 'csrf-token-invalid', 'cross-site-request'] as const

/**
 * The names of an answer that several operations may give. With one meaning that is its name, such as
 * `OrderNotFound`. Otherwise it is called after the first operation that gives it: `CreateOrder400`.
 */
function answerNames(meanings: string[], status: number, { schema, config }: RouteOptions, form?: Schema) {
  const own = capitalised(`${schema?.operationId}${status}`)
  const [meaning, ...others] = meanings.filter((each) => !each.startsWith('csrf-token-'))
  if (others.length > 0) return [own]
  const about = form ? factsOf(form).name : config?.access === 'public' ? 'public' : ''
  return [capitalised(`${about} ${meaning}`), own]
}

function capitalised(words: string): string {
  return words.replaceAll(/(?:^|[- ])(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** A 304 has the headers that the 200 would have (RFC 9110 §15.4.5). */
function headersOf({ config }: RouteOptions, status: number): readonly HeaderDescription[] {
  const own = config?.responseHeaders?.[status === 304 ? 200 : status] ?? []
  return !takesCookie(config) || status === 401 ? own : [...own, ...sessionExpiry]
}

function headersTaken(config: FastifyContextConfig): HeaderDescription[] {
  const { requestHeaders = [] } = config
  return takesCookie(config) ? [...requestHeaders, backgroundHeader] : [...requestHeaders]
}

function takesCookie({ access }: FastifyContextConfig = {}): boolean {
  return access !== 'public' && access !== 'bearer'
}

const requestIdHeader = header('X-Request-Id', 'The id that the request carried, or a new one.')
const rateLimitHeaders = [
  header('RateLimit-Policy', 'The limit that counted this request.', { example: '"read";q=1200;w=60' }),
  header('RateLimit', 'The rest of that limit.', { example: '"read";r=1187;t=12' }),
]
const retryAfterHeader: HeaderDescription = {
  name: 'Retry-After',
  description: 'Seconds to wait before the next try.',
  schema: { type: 'integer', minimum: 1 },
}
const challengeHeader = header('WWW-Authenticate', 'The challenge (RFC 9110).')

function describeHeaders(headers: readonly HeaderDescription[], components: Components): Json {
  return Object.fromEntries(
    headers.map(({ name, ...header }) => [name, components.part('headers', header, name)]),
  )
}

/** The problems of an operation by status: its own, and those implied by its access, limit and body. */
function failures(route: RouteOptions, components: Components): Json {
  const byStatus = new Map<number, ProblemCode[]>()
  for (const code of new Set(problemsOf(route))) {
    const { [code]: status = catalogue[code].status } = route.config?.problemStatus ?? {}
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, codes]) => [String(status), describeProblem(status, codes, components, route)]),
  )
}

function problemsOf({ method, schema, config = {} }: RouteOptions): ProblemCode[] {
  const { access, limit, needsRecentSignIn = false, takesBytes = false, problems = [] } = config
  const isGuarded = access !== 'public'
  const isWrite = method !== 'GET'
  const takesJson = schema?.body === undefined || factsOf(schema.body).form !== schema.body
  const implied: [applies: boolean, codes: readonly ProblemCode[]][] = [
    [true, ['bad-request', 'request-timeout', 'uri-too-long', 'headers-too-large']],
    [true, ['expectation-failed', 'misdirected-request', 'internal-error']],
    [isGuarded, ['authentication-required']],
    [isGuarded || isWrite, ['database-unavailable', 'timed-out']],
    [isGuarded && isWrite && access !== 'bearer', crossSiteProblems],
    [access === 'bearer', ['cross-site-request']],
    [access !== undefined && isPermission(access), ['permission-denied']],
    [access === 'person', ['not-for-services']],
    [needsRecentSignIn, ['recent-sign-in-needed']],
    [limit !== 'exempt', ['rate-limited', 'shutting-down']],
    [takesBytes || schema?.body !== undefined || schema?.querystring !== undefined, ['validation-failed']],
    [isList(schema?.querystring), ['unknown-parameter']],
    [isWrite && takesJson && !takesBytes, ['malformed-json']],
    [isWrite, ['body-too-large', 'unsupported-media-type', 'overloaded']],
  ]
  return [...problems, ...implied.flatMap(([applies, codes]) => (applies ? codes : []))]
}

const isList = (query: unknown) =>
  Object.hasOwn((query as { properties?: object } | undefined)?.properties ?? {}, 'pageNumber')

/** Conflicts that resolve by themselves. */
const conflictsThatPass: readonly ProblemCode[] = ['idempotency-in-progress', 'export-running']

function describeProblem(
  status: number,
  codes: ProblemCode[],
  components: Components,
  route: RouteOptions,
): object {
  const { schema, statuses = [status] } = route.config?.jsonFailure ?? {}
  const form = statuses.includes(status) ? schema : undefined
  const [first] = codes
  if (first === undefined) throw new Error('a status without a problem')
  const waits = status === 429 || status === 503 || codes.some((code) => conflictsThatPass.includes(code))
  const headers = [
    requestIdHeader,
    ...(waits ? [retryAfterHeader] : []),
    ...(status === 401 ? [challengeHeader] : []),
    ...headersOf(route, status),
  ]
  const answer = {
    description: codes.map((code) => `\`${code}\`: ${catalogue[code].title}.`).join(' '),
    headers: describeHeaders(headers, components),
    content: {
      ...(form && contentOf(form, components)),
      'application/problem+json': {
        schema: components.schema(problemSchema),
        example: {
          type: `https://orders.example.com/problems/${first}`,
          title: catalogue[first].title,
          status,
          detail: catalogue[first].remedy,
          instance: '/v1/orders',
          code: first,
          requestId: 'Zr3mQe0bT1u8y7w6v5s4rA',
        },
      },
    },
  }
  return components.part('responses', answer, ...answerNames(codes, status, route, form))
}
