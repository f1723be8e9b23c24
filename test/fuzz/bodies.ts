import fc from 'fast-check'
import type { Judge } from '../support/description.ts'
import { hasOnlyPlainKeys, resolve, valuesOf } from './values.ts'

/** A body as sent, and the answer that it has to get if it is unacceptable. */
export interface Body {
  content: string | Buffer
  headers: Record<string, string>
  refusal?: { status: number; code: string; pointers?: string[] }
}

type Members = Record<string, unknown>

const mediaTypes = [
  'application/json',
  'application/json; charset=utf-8',
  'APPLICATION/JSON;charset="UTF-8"',
  'application/merge-patch+json',
]

/** Bodies of one named schema. */
export function bodiesOf(
  judge: Judge,
  name: string,
): { allowed: fc.Arbitrary<Body>; forbidden: fc.Arbitrary<Body> } {
  const at = ['components', 'schemas', name]
  const schema = resolve(judge, at)
  const names = Object.keys(schema.properties as Members)
  const required = (schema.required ?? []) as string[]
  const values = names.map((key) => {
    const ofSchema = valuesOf(judge, [...at, 'properties', key])
    return key === 'filter' ? { ...ofSchema, allowed: goodFilters } : ofSchema
  })
  const good = fc.tuple(...values.map(({ allowed }) => allowed)).map((all) => zip(names, all))
  const broken = fc.nat(names.length - 1).chain((index) => {
    const key = names[index] ?? ''
    const wrong = values[index]?.forbidden ?? fc.constant(null)
    const withWrong = fc.tuple(good, wrong).map(([members, value]) => ({ ...members, [key]: value }))
    const without = good.map((members) => omit(members, key))
    const ways = [
      { weight: 6, arbitrary: withWrong },
      { weight: required.includes(key) ? 1 : 0, arbitrary: without },
    ]
    return fc.oneof(...ways).map((members) => ({ text: JSON.stringify(members), key }))
  })
  const isClosed = schema.additionalProperties === false
  const more = isClosed ? fc.constant({}) : extras
  const write = writing(isClosed ? closedStyles : Object.keys(styles))
  const withUnknown = good.map((members) => refused(JSON.stringify({ ...members, enabld: 1 }), ['#/enabld']))
  return {
    allowed: fc.tuple(good, more, write).map(([members, others, as]) => as({ ...others, ...members })),
    forbidden: fc.oneof(
      { weight: 8, arbitrary: broken.map(({ text, key }) => refused(text, [`#/${key}`])) },
      { weight: isClosed ? 2 : 0, arbitrary: withUnknown },
      { weight: 1, arbitrary: noObjects },
      { weight: 4, arbitrary: good.chain((members) => spelledWrong(members, names)) },
      { weight: 4, arbitrary: good.chain((members) => unreadable(JSON.stringify(members))) },
    ),
  }
}

/** Good filters, because the schema does not describe the language of filters. */
const goodFilters = fc.constantFrom('', 'acme', 'status=Pending', 'total>5 OR "a b"', '-id:019a')

function zip(names: string[], values: unknown[]): Members {
  return Object.fromEntries(names.map((key, index) => [key, values[index]]))
}

function omit(members: Members, key: string): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => name !== key))
}

function refused(content: string, pointers: string[]): Body {
  const refusal = { status: 400, code: 'validation-failed', pointers }
  return { content, headers: { 'content-type': 'application/json' }, refusal }
}

/** Members that are not fields are ignored, whatever they are. */
const extras = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc
      .dictionary(
        fc.oneof(fc.constantFrom('status', 'id', 'version', 'createdBy', 'roles', 'toString'), fc.string()),
        fc.jsonValue(),
        { maxKeys: 3 },
      )
      .filter(hasOnlyPlainKeys),
  },
)

/** Ways to write the same members. */
const writing = (names: string[]): fc.Arbitrary<(members: Members) => Body> =>
  fc
    .record({ style: fc.constantFrom(...names), type: fc.constantFrom(...mediaTypes) })
    .map(({ style, type }) => (members) => ({
      content: styles[style]?.(members) ?? JSON.stringify(members),
      headers: { 'content-type': type },
    }))

/** The ways that add no member. */
const closedStyles = ['plain', 'spaced', 'escaped', 'twice']

const styles: Record<string, (members: Members) => string> = {
  plain: (members) => JSON.stringify(members),
  spaced: (members) => ` \t\r\n${JSON.stringify(members, null, 2)}\n`,
  escaped: (members) =>
    JSON.stringify(members).replaceAll(
      /[^\u0020-\u007e]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  // The last of two equal keys counts.
  twice: (members) => withFirst(members, `${JSON.stringify(Object.keys(members).at(-1))}:[1]`),
  deep: (members) => withFirst(members, `"deep":${'['.repeat(5_000)}${']'.repeat(5_000)}`),
  huge: (members) => withFirst(members, '"huge":1e400'),
  long: (members) => withFirst(members, `"long":"${'x'.repeat(60_000)}"`),
}

function withFirst(members: Members, member: string): string {
  const text = JSON.stringify(members)
  return text === '{}' ? `{${member}}` : `{${member},${text.slice(1)}`
}

const noObjects = fc
  .oneof(
    fc.constantFrom(
      ...'null [] "x" 1 true [{}] 1e400'.split(' '),
      `${'['.repeat(9_000)}${']'.repeat(9_000)}`,
    ),
    fc
      .array(fc.jsonValue())
      .filter(hasOnlyPlainKeys)
      .map((value) => JSON.stringify(value)),
  )
  .map((text) => refused(text, ['#']))

/**
 * Wrong in ways that no JavaScript value can be: numbers beyond doubles, half characters, a wrong second key.
 */
function spelledWrong(members: Members, names: string[]): fc.Arbitrary<Body> {
  return fc
    .tuple(fc.constantFrom(...names), fc.constantFrom('1e400', '-1e400', '"\\ud800"', '"a\\udfff@b"', '[[]]'))
    .map(([key, spelling]) => {
      const text = JSON.stringify(omit(members, key))
      const member = `${JSON.stringify(key)}:${spelling}`
      const before = text === '{}' ? '{' : `${text.slice(0, -1)},`
      const twin = `${JSON.stringify(members).slice(0, -1)},`
      const start = spelling === '[[]]' ? twin : before
      return refused(`${start}${member}}`, [`#/${key}`])
    })
}

/** Not JSON in UTF-8, with forbidden keys, too long, or declared as something else. */
function unreadable(text: string): fc.Arbitrary<Body> {
  const tooLong = { status: 413, code: 'body-too-large' }
  const long = fc.constant({ ...sent(text.padEnd(64 * 1024 + 1, ' ')), refusal: tooLong })
  return fc.oneof(
    {
      weight: 4,
      arbitrary: malformed(text).map((content) => ({ ...sent(content), refusal: malformedJson })),
    },
    { weight: 1, arbitrary: declaredWrong(text) },
    { weight: 1, arbitrary: long },
  )
}

const malformedJson = { status: 400, code: 'malformed-json' }

function sent(content: string | Buffer, headers: Record<string, string> = {}): Body {
  return { content, headers: { 'content-type': 'application/json', ...headers } }
}

const noUtf8 = [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]
const forbiddenKeys = [
  '"__proto__":1',
  '"__proto__":null',
  '"a":[{"constructor":{}}]',
  '"\\u005f_proto__":{"x":1}',
]
const noJson = ["{'a':1}", '{"a":NaN}', '{"a":01}', '[1,]']

function malformed(text: string): fc.Arbitrary<string | Buffer> {
  const bytes = Buffer.from(text)
  const cut = fc.nat(Math.max(0, bytes.length - 1)).map((end) => bytes.subarray(0, end))
  const broken = fc
    .tuple(fc.nat(bytes.length), fc.constantFrom(...noUtf8))
    .map(([at, inserted]) =>
      Buffer.concat([bytes.subarray(0, at), Buffer.from(inserted), bytes.subarray(at)]),
    )
  const wrapped = fc.constantFrom(`\ufeff${text}`, `${text}x`, `${text}${text}`, `${text},`, ...noJson)
  const keyed = fc
    .constantFrom(...forbiddenKeys)
    .map((member) => (text === '{}' ? `{${member}}` : `{${member},${text.slice(1)}`))
  return fc.oneof<fc.Arbitrary<string | Buffer>[]>(cut, broken, wrapped, keyed)
}

const otherTypes = ['text/plain', 'application/jsonx', 'application/json; charset=latin1', '', '*/*']

function declaredWrong(text: string): fc.Arbitrary<Body> {
  const refusal = { status: 415, code: 'unsupported-media-type' }
  return fc
    .constantFrom<Record<string, string>>(
      ...otherTypes.map((type) => ({ 'content-type': type })),
      { 'content-encoding': 'gzip' },
      { 'content-encoding': 'identity' },
    )
    .map((headers) => ({ ...sent(text, headers), refusal }))
}
