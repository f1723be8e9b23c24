import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { type Answer, Client } from './client.ts'

type Json = Record<string, unknown>

export interface Operation {
  operationId: string
  'x-access': string
  summary?: string
  description?: string
  tags: string[]
  security?: Record<string, string[]>[]
  parameters?: { name: string; in: string; required?: boolean; schema: Json; example?: unknown }[]
  requestBody?: { content: Record<string, Content> }
  responses: Record<string, Response>
}
interface Response {
  headers?: Record<string, { schema: Json }>
  content?: Record<string, Content>
}
interface Content {
  schema: Json
  example?: unknown
}
export interface Description {
  openapi: string
  info: { title: string; version: string; contact?: { name?: string; url?: string } }
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  components: Record<
    'schemas' | 'headers' | 'parameters' | 'responses' | 'securitySchemes',
    Record<string, Json>
  >
}

/** Headers that an answer must carry wherever they are described. */
const alwaysSent = ['X-Request-Id', 'WWW-Authenticate', 'Location']
/** Headers that no answer may carry undescribed. */
const describedWhereSent = 'Set-Cookie ETag Location Link Preference-Applied Idempotency-Replayed'.split(' ')

/**
 * The value with each reference to an answer, header or parameter replaced by what it refers to. References
 * to schemas stay.
 */
function inPlace<T>(description: Description, value: T): T {
  return JSON.parse(JSON.stringify(value), (_, part) => {
    const [, kind, name] =
      /^#\/components\/(headers|parameters|responses)\/(.+)$/.exec(part?.$ref ?? '') ?? []
    if (kind === undefined || name === undefined) return part
    return inPlace(description, description.components[kind as 'headers'][name])
  })
}

/** The schema with references to the one that has the schemas of the description. */
const withReferences = (schema: unknown) =>
  JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', 'description#/$defs/'))

/** Judges requests and answers by the published description. */
export class Judge {
  readonly description: Description
  readonly #ajv: Ajv2020
  /** Keyed by the text of the schema. */
  readonly #validators = new Map<string, ValidateFunction>()
  /** `operationId status` of every answer that was judged. */
  readonly seen = new Set<string>()

  constructor(description: Description) {
    this.description = { ...description, paths: inPlace(description, description.paths) }
    this.#ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true, allowUnionTypes: true })
    // The types of both packages differ in how they are exported, not in what they are.
    ;(formats as unknown as (ajv: Ajv2020) => void)(this.#ajv)
    this.#ajv.addFormat('int32', { type: 'number', validate: () => true })
    // The description says this only in words: multipleOf divides doubles, so 0.07 would not count as a
    // multiple of 0.0001.
    this.#ajv.addFormat('double', { type: 'number', validate: hasFourPlacesAtMost })
    this.#ajv.addKeyword('x-enum-varnames')
    this.#ajv.addKeyword('example')
    // Each is compiled when a validator first refers to it, and once.
    this.#ajv.addSchema(withReferences({ $id: 'description', $defs: description.components.schemas }))
  }

  /** The JSON pointer names a schema inside the description. Most answers share theirs with others. */
  validator(pointer: string): ValidateFunction {
    const parts = pointer.slice(1).split('/').map(fromPointerPart)
    const schema = parts.reduce<unknown>((value, part) => (value as Json)[part], this.description)
    const key = JSON.stringify(schema)
    const known = this.#validators.get(key)
    if (known !== undefined) return known
    const validate = this.#ajv.compile(withReferences(schema))
    this.#validators.set(key, validate)
    return validate
  }

  operations(): { path: string; method: string; operation: Operation }[] {
    return Object.entries(this.description.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    )
  }

  /** Fails unless the answer has a documented status and a body and headers as documented. */
  assertDocumented(method: string, url: string, answer: Answer): void {
    const [requestPath = ''] = url.split('?')
    const { path, operation } = this.#find(method, requestPath)
    const label = `${method} ${url}: ${answer.status} ${answer.text}`
    const documented = operation.responses[String(answer.status)]
    assert.ok(documented, `undocumented status; ${label}`)
    const [type = ''] = (answer.headers.get('content-type') ?? '').split(';')
    const { content = {} } = documented
    assert.ok(type === '' ? Object.keys(content).length === 0 : type in content, `${type}; ${label}`)
    if (type !== '') {
      const parts = ['paths', path, method.toLowerCase(), 'responses', String(answer.status), 'content', type]
      const validate = this.validator(`${toPointer([...parts, 'schema'])}`)
      assert.ok(
        validate(type.endsWith('json') ? answer.body : answer.text),
        `${label}: ${JSON.stringify(validate.errors)}`,
      )
    }
    this.#assertHeaders(operation, documented, answer, label)
    this.seen.add(`${operation.operationId} ${answer.status}`)
  }

  /** Each header that the operation describes appears exactly where described, and as described. */
  #assertHeaders({ responses }: Operation, documented: Response, { headers }: Answer, label: string): void {
    const here = new Map(Object.entries(documented.headers ?? {}))
    for (const [name, { schema }] of here) {
      const text = headers.get(name)
      assert.ok(text !== null || !alwaysSent.includes(name), `${name} is missing; ${label}`)
      if (text === null) continue
      const value = schema.type === 'integer' ? Number(text) : text
      assert.ok(this.#ajv.validate(schema, value), `${name}: ${text}; ${label}`)
    }
    const anywhere = Object.values(responses).flatMap((response) => Object.keys(response.headers ?? {}))
    for (const name of [...anywhere, ...describedWhereSent])
      assert.ok(here.has(name) || !headers.has(name) || name.startsWith('RateLimit'), `${name}; ${label}`)
  }

  #find(method: string, requestPath: string): { path: string; operation: Operation } {
    const ofMethod = this.operations().filter((candidate) => candidate.method === method.toLowerCase())
    // A path without parameters comes before paths whose parameter would match it.
    const found =
      ofMethod.find(({ path }) => path === requestPath) ??
      ofMethod.find(({ path }) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`).test(requestPath))
    assert.ok(found, `undocumented operation: ${method} ${requestPath}`)
    return found
  }
}

/** A caller whose every answer must be as described. */
export class JudgedClient extends Client {
  readonly judge: Judge

  constructor(from: Client, judge: Judge) {
    super(from.baseUrl)
    this.judge = judge
    Object.assign(this.headers, from.headers)
    for (const [name, value] of from.cookies) this.cookies.set(name, value)
  }

  override async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const answer = await super.send(method, path, body, headers)
    this.judge.assertDocumented(method, path, answer)
    return answer
  }
}

/** A JSON pointer as the fragment of a URI. */
export function toPointer(parts: string[]): string {
  return parts
    .map((part) => `/${encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('')
}

function fromPointerPart(part: string): string {
  return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Uses the shortest decimal form of the double (section 1 of the contract). */
function hasFourPlacesAtMost(value: number): boolean {
  const text = String(value)
  return !text.includes('e-') && (text.split('.')[1] ?? '').length <= 4
}
