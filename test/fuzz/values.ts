import type { ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { anyCharacter } from '../support/any-character.ts'
import { type Judge, toPointer } from '../support/description.ts'
import { canBeSeen } from '../support/orders.ts'

type Schema = Record<string, unknown>

/** Values for one schema of the description: allowed ones, and ones that break one of its rules. */
export interface Values {
  schema: Schema
  validate: ValidateFunction
  allowed: fc.Arbitrary<unknown>
  forbidden: fc.Arbitrary<unknown>
}

/** The rule by which a value is judged. */
type Rule = Pick<Values, 'schema' | 'validate'>

export function valuesOf(judge: Judge, parts: string[]): Values {
  const validate = judge.validator(toPointer(parts))
  const schema = resolve(judge, parts)
  if (schema.uniqueItems) return setsOf({ schema, validate })
  if (schema.type === 'object' && schema.properties === undefined) return openObjectsOf({ schema, validate })
  if (schema.type === 'object') return objectsOf(judge, parts, { schema, validate })
  if (schema.type === 'array') {
    const isOfTexts = resolve(judge, [...parts, 'items']).type === 'string'
    return (isOfTexts ? textListsOf : listsOf)(judge, parts, { schema, validate })
  }
  const isAllowed = (value: unknown) => isText(value) && validate(value)
  return {
    schema,
    validate,
    allowed: fc.oneof(...allowedCandidates(judge, schema)).filter(isAllowed),
    forbidden: fc
      .oneof(fc.oneof(...allowedCandidates(judge, schema)), ...breaking(schema))
      .filter((value) => !validate(value)),
  }
}

/** Lists of distinct names. */
function setsOf({ schema, validate }: Rule): Values {
  const names = (schema.items as { enum: string[] }).enum
  const allowed = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 })
  const twice = allowed.map(([first, ...others]) => [first, ...others, first])
  const others = fc.oneof(...breaking(schema)).filter((value) => !validate(value))
  return { schema, validate, allowed, forbidden: fc.oneof(twice, others) }
}

/** Objects of any members. */
function openObjectsOf({ schema, validate }: Rule): Values {
  const allowed = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }).filter(hasOnlyPlainKeys)
  const forbidden = fc.oneof(...breaking(schema)).filter((value) => !validate(value))
  return { schema, validate, allowed, forbidden }
}

/** Objects whose members are all required. */
function objectsOf(judge: Judge, parts: string[], { schema, validate }: Rule): Values {
  const names = Object.keys(schema.properties as Schema)
  const members = names.map((name) => [name, valuesOf(judge, [...parts, 'properties', name])] as const)
  const allowed = fc.record(Object.fromEntries(members.map(([name, values]) => [name, values.allowed])))
  const isWrongInside = fc
    .constantFrom(...members)
    .chain(([name, { forbidden }]) =>
      fc.tuple(allowed, forbidden).map(([object, wrong]) => ({ ...object, [name]: wrong })),
    )
  const others = fc.oneof(...breaking(schema)).filter((value) => !validate(value))
  return { schema, validate, allowed, forbidden: fc.oneof(isWrongInside, others) }
}

/** Lists of texts. */
function textListsOf(judge: Judge, parts: string[], { schema, validate }: Rule): Values {
  const { allowed: text, forbidden: wrong } = valuesOf(judge, [...parts, 'items'])
  const limit = Number(schema.maxItems)
  const allowed = fc.array(text, { maxLength: limit })
  const withWrong = fc.tuple(fc.array(text, { maxLength: 3 }), wrong).map(([some, one]) => [...some, one])
  const isTooLong = fc.array(text, { minLength: limit + 1, maxLength: limit + 2 })
  const others = fc.oneof(...breaking(schema)).filter((value) => !validate(value))
  return { schema, validate, allowed, forbidden: fc.oneof(withWrong, isTooLong, others) }
}

/** Lists of objects. The schema does not say that their totals ascend from 0, or that ids do not repeat. */
function listsOf(judge: Judge, parts: string[], { schema, validate }: Rule): Values {
  const at = [...parts, 'items', 'properties']
  const names = Object.keys(resolve(judge, at))
  const members = new Map(names.map((name) => [name, valuesOf(judge, [...at, name])]))
  const entry = fc.record(
    Object.fromEntries([...members].map(([name, { allowed }]) => [name, allowed])),
  ) as fc.Arbitrary<Schema>
  const limit = Number(schema.maxItems)
  const isByTotal = names.includes('from')
  const lengths = { minLength: 1, maxLength: limit }
  const allowed = isByTotal
    ? fc.array(entry, lengths).map(ascending)
    : fc.uniqueArray(entry, { ...lengths, selector: ({ id }) => id })
  const isWrongInside = fc
    .constantFrom(...names)
    .chain((name) =>
      fc
        .tuple(allowed, fc.nat(), members.get(name)?.forbidden ?? fc.constant(null))
        .map(([entries, number, wrong]) =>
          entries.map((each, index) =>
            index === number % entries.length ? { ...each, [name]: wrong } : each,
          ),
        ),
    )
  const isTooLong = fc.array(entry, { minLength: limit + 1, maxLength: limit + 2 })
  const disagree = entry.map((each) =>
    isByTotal
      ? [
          { ...each, from: 0 },
          { ...each, from: 5 },
          { ...each, from: '5.0' },
        ]
      : [each, each],
  )
  const others = fc.oneof(...breaking(schema)).filter((value) => !validate(value))
  return { schema, validate, allowed, forbidden: fc.oneof(isWrongInside, isTooLong, disagree, others) }
}

function ascending(entries: readonly Schema[]): Schema[] {
  const byTotal = new Map(entries.map((each) => [Number(each.from), each]))
  const sorted = [...byTotal].sort(([one], [other]) => one - other)
  return sorted.map(([, each], index) => (index === 0 ? { ...each, from: 0 } : each))
}

/** The schema at these steps into the description, with references resolved. */
export function resolve(judge: Judge, parts: string[]): Schema {
  const found = parts.reduce<unknown>((value, part) => (value as Schema)[part], judge.description) as Schema
  return typeof found.$ref === 'string' ? resolve(judge, found.$ref.slice(2).split('/')) : found
}

/** The schema does not say that texts are well-formed, or that the customer has visible characters. */
function isText(value: unknown): boolean {
  return typeof value !== 'string' || (value.isWellFormed() && (value === '' || canBeSeen(value)))
}

/**
 * Values that mostly fit: texts that match the pattern or are near the length limits, numbers near the
 * bounds.
 */
function allowedCandidates(judge: Judge, schema: Schema): fc.Arbitrary<unknown>[] {
  const { anyOf, pattern, enum: members } = schema
  if (Array.isArray(anyOf)) {
    const followed = anyOf.map((one: Schema) =>
      typeof one.$ref === 'string' ? resolve(judge, one.$ref.slice(2).split('/')) : one,
    )
    return followed.flatMap((one) => allowedCandidates(judge, one))
  }
  if (Array.isArray(members)) return [fc.constantFrom(...members)]
  const types = [schema.type].flat()
  if (types.includes('null')) return [fc.constant(null)]
  const numbers = types.some((type) => type === 'number' || type === 'integer') ? around(schema) : []
  const truths = types.includes('boolean') ? [fc.boolean()] : []
  const texts = types.includes('string') ? textsOf(schema, pattern) : []
  return [...numbers, ...truths, ...texts]
}

function textsOf(schema: Schema, pattern: unknown): fc.Arbitrary<unknown>[] {
  // No pattern says which time zones exist.
  if (String(pattern).includes('_+')) return [fc.constantFrom('Europe/Berlin', 'utc', 'Etc/GMT+5')]
  if (schema.format === 'uuid') return [fc.uuid()]
  // Only an address of this machine, where nothing listens.
  if (schema.format === 'uri') return [fc.constantFrom('https://127.0.0.1:9/', 'http://127.0.0.1:9/a?b')]
  const texts =
    typeof pattern === 'string'
      ? [matching(pattern)]
      : [fc.string({ unit: anyCharacter, maxLength: 20 }), fc.string({ unit: 'grapheme', maxLength: 20 })]
  return [...texts, ...texts, ...ofLength(schema)]
}

function ofLength({ minLength, maxLength, pattern }: Schema): fc.Arbitrary<unknown>[] {
  const lengths = [minLength, maxLength].filter((length) => typeof length === 'number')
  const counted = [...String(pattern).matchAll(/\{0,(\d{2,})\}/g)].map((match) => Number(match[1]))
  const near = [
    ...lengths.flatMap((length) => [length - 1, length, length + 1]),
    // A pattern that counts characters gets more values near its counts.
    ...counted.flatMap((length) => [length + 1, length + 2, length + 3]),
  ].filter((length) => length >= 0)
  if (near.length === 0) return []
  // The pattern counts both sides of an email's @.
  const [before, after] = String(pattern).includes('@') ? ['a@', 2] : ['', 0]
  return [
    fc
      .tuple(fc.constantFrom(...near), fc.constantFrom('x', 'é', '𝄞', '\u{10ffff}'))
      .map(([length, unit]) => before + unit.repeat(Math.max(0, length - after))),
  ]
}

function around(schema: Schema): fc.Arbitrary<unknown>[] {
  const bounds = [schema.minimum, schema.maximum, schema.exclusiveMinimum].filter(
    (bound) => typeof bound === 'number',
  )
  const near = bounds.flatMap((bound) => [bound - 1, bound - 0.0001, bound, bound + 0.0001, bound + 1])
  const places = fc.integer({ min: 1, max: 999_999_999 }).map((value) => value / 10_000)
  return [fc.constantFrom(...near), fc.integer({ min: 1, max: 400 }), places]
}

const odd = [
  ...[
    null,
    true,
    false,
    [],
    {},
    [1],
    ['1'],
    { a: 1 },
    '',
    ' ',
    '\n',
    '\u0000',
    '\ufeff',
    '1e3',
    '0x10',
    '+1',
  ],
  ...[
    '1 ',
    ' 1',
    '01',
    '1.',
    '.5',
    '１',
    'NaN',
    'Infinity',
    'null',
    '-0',
    '0',
    0,
    -1,
    0.5,
    1e21,
    1e-7,
    5e-324,
  ],
  ...[1.7976931348623157e308, 2 ** 53, -(2 ** 31) - 1, 2 ** 31, '9'.repeat(400), 'a@b@c', '@', 'a@', '@b'],
]

function breaking(schema: Schema): fc.Arbitrary<unknown>[] {
  return [
    fc.constantFrom<unknown>(...odd),
    fc.jsonValue({ maxDepth: 3 }).filter(hasOnlyPlainKeys),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: anyCharacter, maxLength: 8 }),
    ...ofLength(schema),
    ...nearMisses(schema),
  ]
}

/** Matches of the pattern with one character too many, and numbers with one decimal place too many. */
function nearMisses({ anyOf, pattern, format }: Schema): fc.Arbitrary<unknown>[] {
  if (Array.isArray(anyOf)) return anyOf.flatMap(nearMisses)
  const numbers =
    format === 'double' ? [fc.integer({ min: 1, max: 999_999_999 }).map((value) => value / 100_000)] : []
  if (typeof pattern !== 'string') return numbers
  const inserted = fc
    .tuple(matching(pattern), fc.nat(20), fc.constantFrom(...'@.-+0 1e\n\u0000\u00a0'))
    .map(([text, at, unit]) => text.slice(0, at) + unit + text.slice(at))
  return [...numbers, inserted, inserted]
}

const matches = new Map<string, fc.Arbitrary<string>>()

/** A look-ahead only excludes values, and a filter can do that as well. */
function matching(pattern: string): fc.Arbitrary<string> {
  const known = matches.get(pattern)
  if (known !== undefined) return known
  const made = fc.stringMatching(new RegExp(pattern.replace(/^\^\(\?!.*?\$\)/, '^'), 'u'))
  matches.set(pattern, made)
  return made
}

/** Two keys are refused in any object: a rule outside the schema. */
export function hasOnlyPlainKeys(value: unknown): boolean {
  return !/"(?:__proto__|constructor)":/.test(JSON.stringify(value))
}
