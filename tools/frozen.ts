/** The promises of 1.x, a line for each fact: a comparison of two files shows what a change takes away. */
import { eventKinds } from '../server/audit/audit.ts'
import { commands } from '../server/cli/catalogue/catalogue.ts'
import { settings } from '../server/config.ts'
import { filterNames } from '../server/orders/filter/fields.ts'
import { catalogue } from '../server/problems/catalogue.ts'

interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
}

type Content = Record<string, { schema?: Schema }>
interface Parameter {
  $ref?: string
  name?: string
  in?: string
  required?: boolean
  schema?: Schema
}
interface Operation {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, Schema & { content?: Content; headers?: Record<string, unknown> }>
}
export interface Description {
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Schema>
    parameters: Record<string, Parameter>
    responses: Record<string, { content?: Content; headers?: Record<string, unknown> }>
  }
}

/** Sorted, so that a fact that is gone is one line that is gone. */
export function factsOf(description: Description): string[] {
  const names = Object.entries(settings).map(([name]) => `setting ${name}`)
  const typed = [...commands].flatMap(([words, { options = {}, argumentsText = '' }]) => [
    `command ${[words, argumentsText].join(' ').trim()}`,
    ...Object.entries(options).map(([name, { value }]) => `command ${words} --${name} ${value ?? ''}`.trim()),
  ])
  const problems = Object.entries(catalogue).map(([code, { status }]) => `problem ${code} ${status}`)
  const events = Object.entries(eventKinds).flatMap(([subject, kinds]) =>
    kinds.map((kind) => `event ${subject} ${kind}`),
  )
  const fields = filterNames.map((name) => `filter ${name}`)
  const all = [...names, ...typed, ...problems, ...events, ...fields, ...factsOfApi(description)]
  return [...new Set(all)].sort()
}

function factsOfApi({ paths, components }: Description): string[] {
  const [asked, told] = [new Set<string>(), new Set<string>()]
  const facts = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(
      ([method, { operationId: id, parameters = [], requestBody, responses }]) => {
        // A refusal is known by its code.
        const successes = Object.entries(responses).filter(([status]) => status < '400')
        const answers = successes.flatMap(([status, answer]) => {
          const { content = {} } = answer.$ref ? (components.responses[nameOf(answer.$ref)] ?? {}) : answer
          const start = `answer ${id} ${status}`
          return [start, ...factsOfContent(start, content, told)]
        })
        const bodies =
          requestBody === undefined ? [] : factsOfContent(`body ${id}`, requestBody.content, asked)
        const given = parameters.map((each) => {
          const {
            in: place,
            name,
            required,
            schema = {},
          } = each.$ref ? (components.parameters[nameOf(each.$ref)] ?? {}) : each
          return `parameter ${id} ${place} ${name}${required ? ' needed' : ''} ${typeOf(schema)}`
        })
        return [`operation ${id} ${method.toUpperCase()} ${path}`, ...given, ...bodies, ...answers]
      },
    ),
  )
  return [
    ...facts,
    ...factsOfSchemas(components.schemas, asked, true),
    ...factsOfSchemas(components.schemas, told),
  ]
}

function factsOfContent(start: string, content: Content, reached: Set<string>): string[] {
  return Object.entries(content).map(([type, { schema = {} }]) => {
    for (const name of referred(schema)) reached.add(name)
    return `${start} ${type} ${typeOf(schema)}`
  })
}

/** A request may leave out what it needs not, so there the list of what it needs is one fact. */
function factsOfSchemas(schemas: Record<string, Schema>, reached: Set<string>, isAsked = false): string[] {
  const facts: string[] = []
  // A set is iterated as it grows.
  for (const name of reached) {
    for (const each of referred(schemas[name] ?? {})) reached.add(each)
    addFacts(facts, name, schemas[name] ?? {}, isAsked)
  }
  return facts
}

function addFacts(facts: string[], path: string, schema: Schema, isAsked: boolean, kept = ''): void {
  facts.push(`schema ${path}${kept} ${typeOf(schema)}`)
  for (const value of schema.enum ?? []) facts.push(`schema ${path} value ${value}`)
  const { properties, required = [], items, anyOf = [], oneOf = [], allOf = [] } = schema
  for (const part of [...anyOf, ...oneOf, ...allOf]) {
    if (part.properties || part.enum) addFacts(facts, path, part, isAsked)
  }
  if (items?.properties || items?.enum) addFacts(facts, `${path}[]`, items, isAsked)
  if (properties === undefined) return
  if (isAsked) facts.push(`request ${path} needs ${required.toSorted().join(', ') || 'nothing'}`)
  for (const [name, each] of Object.entries(properties)) {
    addFacts(facts, `${path}.${name}`, each, isAsked, !isAsked && required.includes(name) ? ' always' : '')
  }
}

const nameOf = (reference: string) => reference.split('/').at(-1) ?? ''

function referred(schema: Schema): string[] {
  const own = schema.$ref === undefined ? [] : [nameOf(schema.$ref)]
  const { anyOf = [], oneOf = [], allOf = [], items, properties = {} } = schema
  const parts = [...anyOf, ...oneOf, ...allOf, ...(items ? [items] : []), ...Object.values(properties)]
  return [...own, ...parts.flatMap(referred)]
}

function typeOf({ $ref, type, format, anyOf, oneOf, allOf, items }: Schema): string {
  if ($ref !== undefined) return nameOf($ref)
  const parts = anyOf ?? oneOf ?? allOf
  if (parts !== undefined) return [...new Set(parts.map(typeOf))].toSorted().join('|')
  const named = [type].flat().filter((each) => each !== undefined)
  return (
    named.toSorted().join('|') + (format ? `(${format})` : '') + (items ? `[${typeOf(items)}]` : '') || 'any'
  )
}

/** The facts of a release that no longer hold. */
export function takenAway(release: readonly string[], today: readonly string[]): string[] {
  const left = new Set(today)
  return release.filter((fact) => !left.has(fact))
}
