/** The promises of 1.x, a line for each fact: a comparison of two files shows what a change takes away. */
import { isDeepStrictEqual } from 'node:util'
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
  const?: unknown
  default?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
}

type Content = Record<string, { schema?: Schema }>
interface Parameter {
  name: string
  in: string
  required?: boolean
  schema: Schema
}
interface Answer {
  description: string
  headers?: Record<string, unknown>
  content?: Content
}
interface Reference {
  $ref: string
}
interface Operation {
  operationId: string
  'x-access': string
  'x-recent-sign-in'?: boolean
  security: Record<string, unknown>[]
  parameters: (Parameter | Reference)[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, Answer | Reference>
}
export interface Description {
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Schema>
    parameters: Record<string, Parameter>
    responses: Record<string, Answer>
    securitySchemes: Record<string, Record<string, unknown>>
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
  const { schemas, securitySchemes } = components
  const [asked, told] = [new Set<string>(), new Set<string>()]
  const facts = Object.entries(securitySchemes).map(
    ([name, { type, in: place, name: key, scheme }]) =>
      `scheme ${name} ${[type, place, key, scheme].filter(Boolean).join(' ')}`,
  )
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const address = `${method.toUpperCase()} ${path}`
      facts.push(...factsOfRequest(address, operation, components.parameters, asked))
      for (const [status, each] of Object.entries(operation.responses)) {
        const answer = '$ref' in each ? components.responses[nameOf(each.$ref)] : each
        if (answer) facts.push(factOfAnswer(`answer ${operation.operationId} ${status}`, answer, told))
      }
    }
  }
  for (const name of reachedFrom(asked, schemas)) addAsked(facts, name, schemas[name] ?? {})
  for (const name of reachedFrom(told, schemas)) addTold(facts, name, schemas[name] ?? {})
  return facts
}

function factsOfRequest(
  address: string,
  { operationId: id, security, requestBody: body, ...operation }: Operation,
  components: Record<string, Parameter>,
  asked: Set<string>,
): string[] {
  const parameters = operation.parameters.flatMap(
    (each) => ('$ref' in each ? components[nameOf(each.$ref)] : each) ?? [],
  )
  const needed = parameters.filter(({ required }) => required).map((each) => `${each.in} ${each.name}`)
  if (body?.required) needed.push('body')
  const facts = security.map((way) => `security ${id} ${Object.keys(way).toSorted().join(' + ') || 'none'}`)
  const start = `operation ${id} ${address} ${operation['x-access']}`
  facts.push(withTerms(start, { needs: needed.toSorted(), recentSignIn: operation['x-recent-sign-in'] }))
  for (const { in: place, name, schema } of parameters)
    addAsked(facts, `${id} ${place} ${name}`, schema, asked)
  for (const [type, { schema = {} }] of Object.entries(body?.content ?? {})) {
    addAsked(facts, `${id} body ${type}`, schema, asked)
  }
  return facts
}

function factOfAnswer(start: string, { description, headers, content = {} }: Answer, told: Set<string>) {
  const types = Object.entries(content).map(([type, { schema = {} }]) => {
    for (const name of referred(schema)) told.add(name)
    return `${type} ${typeOf(schema)}`
  })
  const codes = [...description.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
  return withTerms(start, {
    content: types.toSorted(),
    headers: Object.keys(headers ?? {}).toSorted(),
    codes: codes.filter((code) => Object.hasOwn(catalogue, code)).toSorted(),
  })
}

/** The names in the set, and those that their schemas refer to. */
function reachedFrom(names: Set<string>, schemas: Record<string, Schema>): Set<string> {
  // A set is iterated as it grows.
  for (const name of names) for (const each of referred(schemas[name] ?? {})) names.add(each)
  return names
}

/** Adds a fact for each form of a field, so that one more form takes none away. */
function addAsked(facts: string[], path: string, schema: Schema, reached?: Set<string>): void {
  for (const name of referred(schema)) reached?.add(name)
  const { anyOf, oneOf, allOf, ...own } = schema
  const parts = anyOf ?? oneOf ?? allOf
  for (const part of parts ?? []) addAsked(facts, path, { ...own, ...part })
  if (parts !== undefined) return
  const { $ref, type, format, items, properties = {}, additionalProperties: others, ...rest } = own
  const { required = [], default: value, ...limits } = rest
  const words = `request ${path} ${typeOf(own)}${value === undefined ? '' : ` default ${JSON.stringify(value)}`}`
  const terms = Object.entries(limits).filter(
    ([name]) => !/^(?:description|examples?|title|x-.*)$/.test(name),
  )
  const isClosed = others === false ? true : undefined
  facts.push(withTerms(words, { needs: required.toSorted(), isClosed, ...Object.fromEntries(terms) }))
  if (items) addAsked(facts, `${path}[]`, items)
  if (typeof others === 'object') addAsked(facts, `${path}.*`, others)
  for (const [name, each] of Object.entries(properties)) addAsked(facts, `${path}.${name}`, each)
}

function addTold(facts: string[], path: string, schema: Schema, kept = ''): void {
  facts.push(`schema ${path}${kept} ${typeOf(schema)}`)
  for (const value of schema.enum ?? []) facts.push(`schema ${path} value ${value}`)
  const { properties = {}, required = [], items, anyOf = [], oneOf = [], allOf = [] } = schema
  for (const part of [...anyOf, ...oneOf, ...allOf]) {
    if (part.properties || part.enum) addTold(facts, path, part)
  }
  if (items?.properties || items?.enum) addTold(facts, `${path}[]`, items)
  for (const [name, each] of Object.entries(properties)) {
    addTold(facts, `${path}.${name}`, each, required.includes(name) ? ' always' : '')
  }
}

const nameOf = (reference: string) => reference.split('/').at(-1) ?? ''

function referred(schema: Schema): string[] {
  const own = schema.$ref === undefined ? [] : [nameOf(schema.$ref)]
  const { anyOf = [], oneOf = [], allOf = [], items = {}, properties = {}, additionalProperties } = schema
  const others = typeof additionalProperties === 'object' ? [additionalProperties] : []
  const parts = [...anyOf, ...oneOf, ...allOf, ...Object.values(properties), ...others]
  return [...own, ...(schema.items ? referred(items) : []), ...parts.flatMap(referred)]
}

function typeOf(schema: Schema): string {
  const { $ref, type, format, anyOf, oneOf, allOf, items, additionalProperties: others } = schema
  if ($ref !== undefined) return nameOf($ref)
  const parts = anyOf ?? oneOf ?? allOf
  if (parts !== undefined) return [...new Set(parts.map(typeOf))].toSorted().join('|')
  const named = [type].flat().filter((each) => each !== undefined)
  const of = items ?? (typeof others === 'object' ? others : undefined)
  return (
    named.toSorted().join('|') +
      (format ? `(${format})` : '') +
      (of ? `[${typeOf(of)}]` : '') +
      (schema.const === undefined ? '' : `=${schema.const}`) || 'any'
  )
}

/** The limits of a request, or the parts of an answer: JSON at the end of a fact. */
type Terms = Record<string, unknown>

function withTerms(words: string, terms: Terms): string {
  const given = Object.entries(terms).filter(([, value]) => value !== undefined && [value].flat().length > 0)
  return given.length === 0 ? words : `${words} ${JSON.stringify(Object.fromEntries(given))}`
}

function split(fact: string): [words: string, terms: Terms] {
  const at = fact.indexOf(' {')
  return at < 0 ? [fact, {}] : [fact.slice(0, at), JSON.parse(fact.slice(at))]
}

/** The facts of a release that no longer hold. */
export function takenAway(release: readonly string[], today: readonly string[]): string[] {
  const left = new Map<string, Terms[]>()
  for (const [words, terms] of today.map(split)) left.set(words, [...(left.get(words) ?? []), terms])
  return release.filter((fact) => {
    const [words, was] = split(fact)
    return !left.get(words)?.some((now) => keeps(was, now))
  })
}

/** Whether an answer still has what it had, and a request is limited no more than it was. */
function keeps(was: Terms, now: Terms): boolean {
  return Object.keys({ ...was, ...now }).every((name) => {
    const [before, after] = [was[name], now[name]]
    if (/^(?:content|headers|codes)$/.test(name)) return isWithin(before, after)
    if (after === undefined || isDeepStrictEqual(before, after)) return true
    if (name === 'needs') return isWithin(after, before)
    if (name === 'enum') return before !== undefined && isWithin(before, after)
    if (name === 'pattern') {
      const [were, are] = [namesIn(before), namesIn(after)]
      return were.others === are.others && isWithin(were.names, are.names)
    }
    if (/^max|^exclusiveMax/.test(name)) return Number(after) >= Number(before)
    return /^min|^exclusiveMin/.test(name) && Number(after) <= Number(before)
  })
}

/** The names in a pattern that only lists them, once or several times, and what is left of it. */
function namesIn(pattern: unknown): { names: string[]; others: string } {
  const text = String(pattern)
  const [, names] = /^\^\(\?:((?:\w|\[\w{2}\]|\|)+)\)/.exec(text) ?? []
  return names === undefined
    ? { names: [], others: text }
    : { names: names.split('|'), others: text.replaceAll(names, '') }
}

const isWithin = (part: unknown = [], whole: unknown = []) =>
  Array.isArray(part) && Array.isArray(whole) && part.every((each) => whole.includes(each))
