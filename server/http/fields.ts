import type { FastifyTypeProvider } from 'fastify'
import { formatInstant } from '../clock.ts'
import { type FieldError, Problem } from '../problems/problems.ts'
import { foreignName } from './foreign-names.ts'
import { Form, type RawQuery, undecodable } from './form-text.ts'
import { type Schema, type Static, Type } from './schema.ts'

/** One rule that a value broke. `detail` continues a sentence that begins with the name of the field. */
export class Fault {
  readonly code: string
  readonly detail: string

  constructor(code: string, detail: string) {
    this.code = code
    this.detail = detail
  }
}

/** Faults inside one value, each with its place in that value, such as `/1/from`. */
export class InnerFaults extends Fault {
  readonly errors: readonly FieldError[]

  constructor(errors: readonly FieldError[]) {
    super('inside', 'has faults inside.')
    this.errors = errors
  }
}

/**
 * One member of a body or one query parameter: its published JSON Schema, and the function that turns what
 * was sent into the domain value. The function accepts exactly what the schema states; a contract test
 * compares them. A schema validator could not name the broken rule in words of the field, judge a decimal
 * exactly, or return a parsed value.
 */
export interface Field<T> {
  schema: Schema
  /** In a body: null if it is absent. */
  isOptional?: boolean
  /** In a body: undefined if it is absent, because null is a value that can be sent. */
  tellsAbsence?: boolean
  read(value: unknown): T | Fault
}

type FieldValue<F> = F extends Field<infer T> ? T : never

/** Exists for the compiler only: carries the parsed type from a schema to the handler. */
declare const parsed: unique symbol
export type Parsed<T> = Schema & { [parsed]?: T }
/** The value that a handler gets of a body with this schema. */
export type ParsedBy<S> = S extends { [parsed]?: infer T } ? T : never

/** Gives `request.body` and `request.query` the parsed types, and answers those of their schemas. */
export interface FieldsTypeProvider extends FastifyTypeProvider {
  validator: this['schema'] extends { [parsed]?: infer T } ? T : unknown
  serializer: this['schema'] extends Schema ? Static<this['schema']> : unknown
}

type Parser = (value: unknown, errors: FieldError[]) => unknown

/** Facts about a schema besides its keywords. */
interface Facts {
  /** Its name as a component of the OpenAPI description. */
  name?: string
  parse?: Parser
  /** Whether the body may be absent, because no field is required. */
  isOptionalBody?: boolean
  /** The schema of the form that a body may have: the schema itself if the body is always a form. */
  form?: Schema
}

const facts = new WeakMap<object, Facts>()

export function factsOf(schema: unknown): Facts {
  return (typeof schema === 'object' && schema !== null && facts.get(schema)) || {}
}

function withFacts<S extends Schema>(schema: S, more: Facts): S {
  facts.set(schema, { ...factsOf(schema), ...more })
  return schema
}

/** Makes a schema a named component of the OpenAPI description. */
export function named<S extends Schema>(name: string, schema: S): S {
  return withFacts(schema, { name })
}

/** A JSON object. Members that are not fields are ignored and never bound. */
export function bodyOf<F extends Fields>(
  name: string,
  description: string,
  fields: F,
  { isExact = false, leastMembers = 0 } = {},
): Parsed<Values<F>> {
  const keywords = { description, ...(leastMembers > 0 && { minProperties: leastMembers }) }
  const about = { name: 'The body', pointer: '#', isExact, leastMembers }
  return withFacts(objectSchema(fields, keywords, isExact), {
    name,
    isOptionalBody: leastMembers === 0 && Object.values(fields).every(({ isOptional }) => isOptional),
    parse: (value, errors) => readObject(fields, value, { ...about, errors }),
  })
}

/**
 * The same, but members that are not fields are refused: a misspelt one would have no effect and go
 * unnoticed.
 */
export function exactBodyOf<F extends Fields>(name: string, description: string, fields: F) {
  return bodyOf(name, description, fields, { isExact: true })
}

/** The members to change, of which one at least is given: a change of nothing is a mistake. */
export function changeBodyOf<F extends Fields>(name: string, fields: F) {
  const description = 'The members to change, at least one; the others stay.'
  return bodyOf(name, description, fields, { isExact: true, leastMembers: 1 })
}

/**
 * A list of 1 to `limit` objects in a body, which have no other members. `judge` reports faults between
 * entries. It sees only the values that have no fault by themselves.
 */
export function listOf<F extends Fields>(
  fields: F,
  { limit, judge, ...keywords }: { limit: number; judge: Judge<F>; description: string },
): Field<Values<F>[]> {
  return {
    schema: Type.Array(objectSchema(fields, {}, true), { minItems: 1, maxItems: limit, ...keywords }),
    read(value) {
      if (!Array.isArray(value)) return new Fault('type', 'must be a list.')
      if (value.length < 1 || value.length > limit) {
        return new Fault('length', `must have 1 to ${limit} entries.`)
      }
      const errors: FieldError[] = []
      const entries = value.map((entry, index) =>
        readObject(fields, entry, { name: 'An entry', pointer: `/${index}`, errors, isExact: true }),
      )
      judge(entries as Partial<Values<F>>[], (index, key, fault) =>
        errors.push({ pointer: `/${index}/${key}`, ...inWords(key, fault) }),
      )
      return errors.length === 0 ? (entries as Values<F>[]) : new InnerFaults(errors)
    },
  }
}

/** An object as a member of a body. */
export function objectOf<F extends Fields>(fields: F, keywords: { description: string }): Field<Values<F>> {
  return {
    schema: objectSchema(fields, keywords),
    read(value) {
      const errors: FieldError[] = []
      const read = readObject(fields, value, { name: 'It', pointer: '', errors })
      return errors.length === 0 ? (read as Values<F>) : new InnerFaults(errors)
    },
  }
}

/** The same fields as members that may be absent: undefined then. */
export function optionalFields<F extends Fields>(
  fields: F,
): { [K in keyof F]: Field<FieldValue<F[K]> | undefined> } {
  return Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [key, { ...field, isOptional: true, tellsAbsence: true }]),
  ) as ReturnType<typeof optionalFields<F>>
}

type Fields = Record<string, Field<unknown>>
export type Values<F extends Fields> = { [K in keyof F]: FieldValue<F[K]> }
type Judge<F extends Fields> = (
  entries: readonly Partial<Values<F>>[],
  report: (index: number, key: keyof F & string, fault: Fault) => void,
) => void

function objectSchema(fields: Fields, keywords: Record<string, unknown>, isExact = false) {
  const properties = Object.entries(fields).map(([key, { schema, isOptional }]) => [
    key,
    isOptional ? Type.Optional(schema) : schema,
  ])
  const closed = isExact ? { additionalProperties: false } : {}
  return Type.Object(Object.fromEntries(properties), { ...closed, ...keywords })
}

/** The values of the fields. A value with a fault is undefined, and its fault is in `errors`. */
function readObject(
  fields: Fields,
  value: unknown,
  {
    name,
    pointer,
    errors,
    isExact,
    leastMembers = 0,
  }: { name: string; pointer: string; errors: FieldError[]; isExact?: boolean; leastMembers?: number },
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    errors.push({ pointer, code: 'type', detail: `${name} must be a JSON object.` })
    return {}
  }
  if (isExact) errors.push(...unknownMembers(fields, value, pointer))
  if (Object.keys(value).length < leastMembers) {
    errors.push({ pointer, code: 'required', detail: `${name} must have a member to change.` })
  }
  return readEach(fields, (key, field) => {
    if (!Object.hasOwn(value, key) && field.isOptional) return field.tellsAbsence ? undefined : null
    const result = Object.hasOwn(value, key)
      ? field.read((value as Record<string, unknown>)[key])
      : new Fault('required', 'is required.')
    if (!(result instanceof Fault)) return result
    errors.push(...errorsOf(`${pointer}/${key}`, key, result))
    return undefined
  })
}

function unknownMembers(fields: Fields, value: object, pointer: string): FieldError[] {
  const unknown = Object.keys(value).filter((key) => !Object.hasOwn(fields, key))
  return unknown.flatMap((key) => {
    const member = key.replaceAll('~', '~0').replaceAll('/', '~1')
    return errorsOf(`${pointer}/${member}`, key, new Fault('unknown', 'is no member of this object.'))
  })
}

function errorsOf(pointer: string, key: string, fault: Fault): FieldError[] {
  if (!(fault instanceof InnerFaults)) return [{ pointer, ...inWords(key, fault) }]
  return fault.errors.map((error) => ({ ...error, pointer: `${pointer}${error.pointer ?? ''}` }))
}

/**
 * A body that is always a form. Empty parameters count as absent, unknown ones are ignored (RFC 6749 §3.2).
 */
export function formOf<F extends Fields>(name: string, description: string, fields: F): Parsed<Values<F>> {
  const schema = objectSchema(fields, { description })
  const parse: Parser = (value, errors) => {
    const parameters = value instanceof Form ? value.parameters : {}
    return readEach(fields, (key, field) => {
      const text = parameters[key] || undefined
      if (text === undefined && field.isOptional) return null
      const result = text === undefined ? new Fault('required', 'is required.') : readParameter(text, field)
      if (result instanceof Fault) errors.push({ pointer: `#/${key}`, ...inWords(key, result) })
      return result
    })
  }
  return withFacts(schema, { name, parse, form: schema })
}

/** A JSON body that may come as this form instead. */
export function jsonOrForm<J, F>(json: Parsed<J>, form: Parsed<F>): Parsed<J | F> {
  const parse: Parser = (value, errors) => factsOf(value instanceof Form ? form : json).parse?.(value, errors)
  return withFacts({ ...json }, { ...factsOf(json), form, parse })
}

/**
 * Query parameters. Absent and empty ones are undefined unless they are required. Unknown ones are ignored
 * and never bound, but a list (it has pages) refuses the names that other APIs use for its parameters.
 */
export function queryOf<F extends Fields, R extends keyof F & string = never>(
  fields: F,
  required: readonly R[] = [],
): Parsed<{ [K in keyof F]: FieldValue<F[K]> | (K extends R ? never : undefined) }> {
  const isRequired = (key: string) => required.some((name) => name === key)
  const properties = Object.fromEntries(
    Object.entries(fields).map(([key, { schema }]) => [
      key,
      isRequired(key) ? schema : Type.Optional(schema),
    ]),
  )
  const own = Object.keys(fields)
  const isList = own.includes('pageNumber')
  const parse: Parser = (value, errors) => {
    const query = value as RawQuery
    for (const name of isList ? Object.keys(query) : []) {
      const detail = own.includes(name) ? undefined : foreignName(name, own)
      if (detail !== undefined) errors.push({ parameter: name, code: unknownParameter, detail })
    }
    return readEach(fields, (key, field) => {
      const text = query[key]
      const isAbsent = text === undefined || text === ''
      if (isAbsent && !isRequired(key)) return undefined
      const result = isAbsent ? new Fault('required', 'is required.') : readParameter(text, field)
      if (result instanceof Fault) errors.push({ parameter: key, ...inWords(key, result) })
      return result
    })
  }
  return withFacts(Type.Object(properties), { parse })
}

const unknownParameter = 'unknown-parameter'

function inWords(key: string, { code, detail }: Fault): { code: string; detail: string } {
  return { code, detail: `${key} ${detail}` }
}

function readParameter<T>(text: RawQuery[string], field: Field<T>): T | Fault {
  if (text === undecodable) return new Fault('encoding', 'must be percent-encoded UTF-8.')
  if (Array.isArray(text)) return new Fault('repeated', 'may be given only once.')
  return field.read(text)
}

function readEach(
  fields: Fields,
  read: (key: string, field: Field<unknown>) => unknown,
): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(fields)) result[key] = read(key, field)
  return result
}

/** For Fastify's `setValidatorCompiler`: parses by the schema. All faults together are one Problem. */
export function compileParser({ schema }: { schema: unknown }) {
  const { parse } = factsOf(schema)
  if (parse === undefined) throw new Error('a body or query schema must be made by bodyOf or queryOf')
  return (data: unknown) => {
    const errors: FieldError[] = []
    const value = parse(data, errors)
    if (errors.length === 0) return { value }
    const isUnknown = errors.some(({ code }) => code === unknownParameter)
    return { error: new Problem(isUnknown ? unknownParameter : 'validation-failed', { errors }) }
  }
}

/** The value that the schema reads from data. Throws `validation-failed`. */
export function parseBy<T>(schema: Parsed<T>, data: unknown): T {
  const parsed = compileParser({ schema })(data)
  if (parsed.error !== undefined) throw parsed.error
  return parsed.value as T
}

const int32Pattern = /^-?(?:0|[1-9]\d*)$/

/** An int32 of the contract: a JSON integer or a string of digits. Undefined for anything else. */
export function readInt32(value: unknown): number | undefined {
  if (
    typeof value === 'string' ? !int32Pattern.test(value) || value.length > 11 : typeof value !== 'number'
  ) {
    return undefined
  }
  const number = Number(value)
  return Number.isInteger(number) && number >= -2_147_483_648 && number <= 2_147_483_647 ? number : undefined
}

/** The schema of an int32 (section 1 of the contract), which is always sent as a JSON integer. */
export function int32Schema(options: Record<string, unknown>) {
  return Type.Unsafe<number>({
    type: ['integer', 'string'],
    format: 'int32',
    pattern: '^-?(?:0|[1-9]\\d*)$',
    minimum: -2_147_483_648,
    maximum: 2_147_483_647,
    ...options,
  })
}

/** An int32 of a range. A text has the same range, so `pattern` must express it too. */
export function int32Field(
  minimum: number,
  maximum: number,
  options: Record<string, unknown>,
): Field<number> {
  return {
    schema: int32Schema({ minimum, maximum, ...options }),
    read(value) {
      const number = readInt32(value)
      if (number === undefined) return new Fault('type', 'must be a whole number (int32).')
      if (number < minimum) return new Fault('minimum', `must be at least ${minimum}.`)
      return number > maximum ? new Fault('maximum', `must be at most ${maximum}.`) : number
    },
  }
}

/** As a text, every int32 from 1. */
const positiveInt32Pattern =
  '^(?:[1-9][0-9]{0,8}|1[0-9]{9}|20[0-9]{8}|21[0-3][0-9]{7}|214[0-6][0-9]{6}|2147[0-3][0-9]{5}|' +
  '21474[0-7][0-9]{4}|214748[0-2][0-9]{3}|2147483[0-5][0-9]{2}|21474836[0-3][0-9]|214748364[0-7])$'

/** An id or a version. */
export const positiveInt32Field = (description: string, example: number) =>
  int32Field(1, 2_147_483_647, { pattern: positiveInt32Pattern, description, examples: [example] })

export function booleanField(description: string, example: boolean): Field<boolean> {
  return {
    schema: Type.Boolean({ description, examples: [example] }),
    read: (value) => (typeof value === 'boolean' ? value : new Fault('type', 'must be true or false.')),
  }
}

const instantPattern =
  /^2\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{1,9})?Z$/

/** RFC 3339 in UTC, of a day that exists. Fractions finer than a millisecond are cut. */
export function instantField(description: string, example: string): Field<number> {
  const about = { description, examples: [example] }
  const schema = Type.String({ format: 'date-time', pattern: instantPattern.source, ...about })
  return refined(anyText, schema, (text) => {
    const instant = instantPattern.test(text) ? Date.parse(text) : Number.NaN
    const isOfItsDay = !Number.isNaN(instant) && formatInstant(instant).slice(0, 10) === text.slice(0, 10)
    return isOfItsDay
      ? instant
      : new Fault('format', 'must be an instant in UTC such as 2026-11-20T10:00:00Z.')
  })
}

/** The schema of a field that may also be null. */
export function orNull({ description, examples, ...schema }: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }], description, examples }
}

/** A field whose value is read further, with the schema of both steps. */
export function refined<T, U>(first: Field<T>, schema: Schema, then: (value: T) => U | Fault): Field<U> {
  return {
    schema,
    read(value) {
      const read = first.read(value)
      return read instanceof Fault ? read : then(read)
    },
  }
}

export const anyText: Field<string> = {
  schema: Type.String(),
  read: (value) => (typeof value === 'string' ? value : new Fault('type', 'must be a string.')),
}

/** Text whose length is counted in code points, taken unchanged. Unicode with a lone surrogate is refused. */
export function textField(
  minimum: number,
  maximum: number,
  description?: string,
  example?: string,
): Field<string> {
  const about = { description, ...(example === undefined ? {} : { examples: [example] }) }
  const schema = Type.String({ minLength: minimum, maxLength: maximum, ...about })
  return refined(anyText, schema, (text) => {
    if (!text.isWellFormed()) return new Fault('encoding', 'must be well-formed Unicode.')
    const length = codePoints(text)
    return length < minimum || length > maximum
      ? new Fault('length', `must have ${minimum} to ${maximum} characters.`)
      : text
  })
}

export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** The response schema of an answer without a body. */
export const noContent = Type.Unsafe<undefined>({ type: 'null', description: 'No body.' })
