import fc, { toStringMethod } from 'fast-check'
import { anyCharacter } from '../support/any-character.ts'
import type { Judge, Operation } from '../support/description.ts'
import { type Body, bodiesOf } from './bodies.ts'
import { headersOf, queriesOf, type RequestHeaders } from './parameters.ts'

/** One request of an operation; the path still lacks its order. */
export interface DescribedRequest {
  operation: Operation
  method: string
  path: string
  id: OrderId
  query: string
  headers: Record<string, string>
  body: string | Buffer | undefined
  /** How the description forbids the request; undefined if it allows it. */
  refusal?: Refusal
  /** Printing the whole operation in a counterexample would hide what matters. */
  [toStringMethod]: () => string
}

export interface Refusal {
  status: number
  code: string | string[]
  /** Where the fault is: any of these, as an error of the problem names it. */
  places?: string[]
}

/** An existing order, an id that no order has, or text for the path as it is. */
export type OrderId = { known: number; upperCase: boolean } | { unknown: string } | { raw: string }

const knownIds: fc.Arbitrary<OrderId> = fc.record({ known: fc.nat(), upperCase: fc.boolean() })
const uuids: fc.Arbitrary<OrderId> = fc.uuid().map((unknown) => ({ unknown }))
const badIds: fc.Arbitrary<OrderId> = fc
  .oneof(
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 30 }).filter((text) => text.isWellFormed()),
    fc.constantFrom('0', 'null', '%', '{id}', '*', '../orders', "' or 1=1 --", '\u0000', 'x'.repeat(2_000)),
    fc.uuid().map((uuid) => `${uuid}0`),
    fc.uuid().map((uuid) => `{${uuid}}`),
    fc.uuid().map((uuid) => uuid.replaceAll('-', '')),
  )
  .filter((text) => !['.', '..', 'summary'].includes(text))
  .map((unknown) => ({ unknown }))

/** Escapes that decode to no text. They are sent unchanged. */
const brokenEscapes: fc.Arbitrary<OrderId> = fc
  .constantFrom('%', '%zz', '%ff', '%C0%AF', 'a%2', '%u0041')
  .map((raw) => ({ raw }))

export function pathOf(template: string, id: OrderId, knownOrders: readonly string[]): string {
  if ('known' in id) {
    const order = knownOrders[id.known % knownOrders.length] ?? ''
    return template.replace(/\{\w+\}/, () => (id.upperCase ? order.toUpperCase() : order))
  }
  const raw = 'raw' in id ? id.raw : encodeURIComponent(id.unknown)
  return template.replace(/\{\w+\}/, () => raw)
}

/** Requests that the description allows. */
export function allowedRequests(judge: Judge): fc.Arbitrary<DescribedRequest> {
  return oneOfEach(judge, (parts) =>
    fc
      .tuple(
        parts.ids,
        parts.queries?.allowed ?? noQuery,
        parts.headers.allowed,
        parts.bodies?.allowed ?? noBody,
      )
      .map(([id, query, headers, body]) => assemble(parts, { id, query, headers, body })),
  )
}

/** Requests with exactly one fault. */
export function forbiddenRequests(judge: Judge): fc.Arbitrary<DescribedRequest> {
  return oneOfEach(judge, (parts) => {
    const { ids, queries, headers, bodies } = parts
    const query = queries?.allowed ?? noQuery
    const body = bodies?.allowed ?? noBody
    const kinds: fc.Arbitrary<Pieces>[] = []
    if (queries) kinds.push(fc.record({ id: ids, query: queries.forbidden, headers: headers.allowed, body }))
    if (bodies) kinds.push(fc.record({ id: ids, query, headers: headers.allowed, body: bodies.forbidden }))
    if (headers.forbidden) kinds.push(fc.record({ id: ids, query, headers: headers.forbidden, body }))
    if (parts.path.includes('{')) {
      const id = fc.oneof({ weight: 4, arbitrary: badIds }, { weight: 1, arbitrary: brokenEscapes })
      kinds.push(
        fc.record({
          id: id.map((bad) => ({ ...bad, isFaulty: true })),
          query,
          headers: headers.allowed,
          body,
        }),
      )
    }
    return kinds.length === 0 ? undefined : fc.oneof(...kinds).map((pieces) => assemble(parts, pieces))
  })
}

const noQuery = fc.constant<{ text: string; faulty?: string }>({ text: '' })
const noBody = fc.constant<Body | undefined>(undefined)

interface Parts {
  path: string
  method: string
  operation: Operation
  ids: fc.Arbitrary<OrderId>
  queries: ReturnType<typeof queriesOf>
  headers: ReturnType<typeof headersOf>
  bodies: ReturnType<typeof bodiesOf> | undefined
}

interface Pieces {
  id: OrderId & { isFaulty?: boolean }
  query: { text: string; faulty?: string }
  headers: RequestHeaders
  body: Body | undefined
}

/** Operations that hash passwords at full cost are drawn less often. */
const rare = ['loginSession', 'confirmSession', 'changePassword', 'issueToken']

function oneOfEach(
  judge: Judge,
  requests: (parts: Parts) => fc.Arbitrary<DescribedRequest> | undefined,
): fc.Arbitrary<DescribedRequest> {
  const weighted = judge.operations().flatMap(({ path, method, operation }) => {
    const { content } = operation.requestBody ?? {}
    const schema = content?.['application/json']?.schema as { $ref: string } | undefined
    // Operations that take only forms have separate tests.
    if (content !== undefined && schema === undefined) return []
    const arbitrary = requests({
      path,
      method,
      operation,
      ids: fc.oneof({ weight: 4, arbitrary: knownIds }, { weight: 1, arbitrary: uuids }),
      queries: queriesOf(judge, { path, method }, operation),
      headers: headersOf(operation),
      bodies: schema && bodiesOf(judge, schema.$ref.split('/').at(-1) ?? ''),
    })
    const weight = rare.includes(operation.operationId) ? 1 : 5
    return arbitrary === undefined ? [] : [{ weight, arbitrary }]
  })
  return fc.oneof(...weighted)
}

function assemble(
  { path, method, operation }: Parts,
  { id, query, headers, body }: Pieces,
): DescribedRequest {
  const refusal = refusalOf(path, { id, query, headers, body })
  const shown = JSON.stringify({ id, query: query.text, headers: headers.fields, body, refusal })
  return {
    [toStringMethod]: () => `${operation.operationId} ${shown.slice(0, 2_000)}`,
    operation,
    method,
    path,
    id,
    query: query.text === '' ? '' : `?${query.text}`,
    headers: { ...headers.fields, ...body?.headers },
    body: body?.content,
    ...(refusal === undefined ? {} : { refusal }),
  }
}

/** How malformed ids are refused, except those of an order or view. */
const unknownOf: Record<string, string | string[]> = {
  users: 'user-not-found',
  clients: 'client-not-found',
  roles: 'role-not-found',
  webhooks: 'webhook-not-found',
  auth: ['link-not-found', 'sign-in-not-found', 'passkey-not-found'],
}

function refusalOf(path: string, { id, query, headers, body }: Pieces): Refusal | undefined {
  if (body?.refusal !== undefined) {
    const { status, code, pointers } = body.refusal
    return { status, code, ...(pointers === undefined ? {} : { places: pointers }) }
  }
  if (query.faulty !== undefined) {
    // A filter that is too long is also a fault of the language.
    const code = query.faulty === 'filter' ? ['validation-failed', 'invalid-filter'] : 'validation-failed'
    return { status: 400, code, places: [query.faulty] }
  }
  if (headers.refusal !== undefined) {
    const { status, code, header } = headers.refusal
    return { status, code, ...(header === undefined ? {} : { places: [header] }) }
  }
  const [, , collection = ''] = path.split('/')
  const unknown = unknownOf[collection] ?? ['order-not-found', 'view-not-found']
  return id.isFaulty === true ? { status: 404, code: unknown } : undefined
}
