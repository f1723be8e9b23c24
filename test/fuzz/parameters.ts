import type { ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import type { Judge, Operation } from '../support/description.ts'
import { type Values, valuesOf } from './values.ts'

/** A query string, and the parameter that makes it unacceptable, if any. */
export interface Query {
  text: string
  faulty?: string
}

/** Query strings of an operation that has query parameters. */
export function queriesOf(
  judge: Judge,
  { path, method }: { path: string; method: string },
  { parameters = [] }: Operation,
): { allowed: fc.Arbitrary<Query>; forbidden: fc.Arbitrary<Query> } | undefined {
  const known = parameters.flatMap((parameter, index) =>
    parameter.in === 'query'
      ? [
          {
            name: parameter.name,
            values: valuesOf(judge, ['paths', path, method, 'parameters', String(index), 'schema']),
          },
        ]
      : [],
  )
  if (known.length === 0) return undefined
  const pairs = known.map(({ name, values }) => ({ name, ...textsOf(values) }))
  const allowed = fc
    .tuple(
      fc.record(Object.fromEntries(pairs.map(({ name, allowed }) => [name, allowed])), { requiredKeys: [] }),
      more,
    )
    .map(([given, rest]) => [...Object.entries(given).map(([name, text]) => pair(name, text ?? '')), ...rest])
  const forbidden = fc
    .tuple(
      allowed,
      fc.oneof(...pairs.map(({ name, forbidden }) => forbidden.map((text) => ({ name, text })))),
    )
    .map(([all, { name, text }]) => {
      const others = all.filter((each) => !each.startsWith(`${name}=`))
      return { text: [...others, `${name}=${text}`].join('&'), faulty: name }
    })
  const twice = fc
    .tuple(allowed, fc.constantFrom(...pairs), fc.constantFrom('', '1', 'x'), fc.constantFrom('', '1'))
    .map(([all, { name }, one, other]) => {
      const others = all.filter((each) => !each.startsWith(`${name}=`))
      return { text: [...others, `${name}=${one}`, `${name}=${other}`].join('&'), faulty: name }
    })
  return {
    allowed: allowed.map((all) => ({ text: all.join('&') })),
    forbidden: fc.oneof({ weight: 5, arbitrary: forbidden }, { weight: 1, arbitrary: twice }),
  }
}

function pair(name: string, text: string): string {
  return `${name}=${encodeURIComponent(text)}`
}

/** Unknown parameters are ignored, even broken ones. */
const more = fc.oneof(
  { weight: 4, arbitrary: fc.constant<string[]>([]) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ['x=1'],
      ['version=9', 'version=9'],
      ['%ff=%'],
      ['&', '=', '__proto__=1'],
      ['%C0'],
    ),
  },
)

/** Texts for a query: allowed ones, ones that are not escaped UTF-8, and ones that break the schema. */
function textsOf({ allowed, forbidden, validate }: Values) {
  const texts = (values: fc.Arbitrary<unknown>) =>
    values
      .filter((value) => typeof value !== 'object')
      .map(String)
      .filter((text) => text.isWellFormed())
  const broken = fc.constantFrom('%', '%f', '%ff', '%C0%80', '%ED%A0%80', '1%')
  return {
    allowed: texts(allowed).filter((text) => text === '' || allows(validate, text)),
    forbidden: fc.oneof(
      {
        weight: 6,
        arbitrary: texts(forbidden)
          .filter((text) => text !== '' && !allows(validate, text))
          .map(encodeURIComponent),
      },
      { weight: 1, arbitrary: broken },
    ),
  }
}

/** A text counts as the number or boolean that it spells, if the schema accepts one. */
function allows(validate: ValidateFunction, text: string): boolean {
  const spelled = /^(?:-?(?:0|[1-9]\d*)|true|false)$/.test(text) ? JSON.parse(text) : text
  if (validate(spelled)) return true
  const isOfNoSuchType = (validate.errors ?? []).every(({ keyword }) => keyword === 'type')
  return isOfNoSuchType && validate(text)
}

/** Meaningful, well-formed headers by name; a request has some of them. */
const good: Record<string, fc.Arbitrary<string>> = {
  'If-None-Match': fc.constantFrom('*', '"1"', 'W/"2"', '"1", "2"', 'x', '"', ''),
  'If-Match': fc.constantFrom('*', '"1"', '"2"', 'W/"1"', '"1", "2"', 'x', '"99999999999"', ''),
  'Time-Zone': fc.constantFrom(
    ...'Europe/Berlin utc America/Argentina/Buenos_Aires Etc/GMT+5 Asia/Kolkata'.split(' '),
  ),
  'Idempotency-Key': fc.oneof(
    fc.stringMatching(/^[!#-~][!-~]{0,40}$/),
    fc.stringMatching(/^"[a-z ]{1,20}"$/),
    fc.constantFrom('a', 'b', '"a"', '"\\""', 'x'.repeat(255), `"${'x'.repeat(255)}"`),
  ),
  'Decision-Signature': fc.constantFrom('e30', 'eyJzdGF0ZW1lbnQiOiJ4In0', 'x', 'A'.repeat(8_192)),
  'Last-Event-ID': fc.constantFrom(...'1.0 1.1043 2.1 1.999999999999999 1043 -1 1.1e400 x'.split(' '), ''),
  'MCP-Protocol-Version': fc.constantFrom('2026-07-28', '2025-11-25', '2025-03-26', ''),
  'Mcp-Method': fc.constantFrom('tools/list', 'tools/call', ''),
  'Mcp-Name': fc.constantFrom('find_orders', '=?base64?eA==?=', '=?base64??=', ''),
  Background: fc.constantFrom('?1', '?0', '?1;a=1', 'x', ''),
  Prefer: fc.constantFrom('return=minimal', 'return=representation', 'wait=5, Return = "minimal"', 'x', ''),
}

/** Keyed by header: the code of its refusal, and texts that are refused. */
const bad: Record<string, { code: string; texts: fc.Arbitrary<string> }> = {
  'Time-Zone': {
    code: 'invalid-time-zone',
    texts: fc.oneof(
      fc.constantFrom(
        ...'+01:00 +01 -0330 Z None/Such ../etc \u00ff'.split(' '),
        ...['', 'Europe/Berlin, UTC', 'A'.repeat(500)],
      ),
      fc.stringMatching(/^[a-z]{1,3}\/[0-9]{1,9}$/),
    ),
  },
  'Idempotency-Key': {
    code: 'invalid-idempotency-key',
    texts: fc.constantFrom(
      ...['', '""', '"', '"a', '"a"b"', 'a\tb', '\u00e9'],
      ...['x'.repeat(258), `"${'x'.repeat(256)}"`],
    ),
  },
}

export interface RequestHeaders {
  fields: Record<string, string>
  refusal?: { status: number; code: string; header?: string }
}

export function headersOf({ parameters = [] }: Operation): {
  allowed: fc.Arbitrary<RequestHeaders>
  forbidden: fc.Arbitrary<RequestHeaders> | undefined
} {
  const headers = parameters.filter((each) => each.in === 'header')
  const names = headers.map(({ name }) => name)
  for (const name of names)
    if (!(name in good)) throw new Error(`no values of the header ${name} are known here`)
  const given = fc.record(
    Object.fromEntries(names.map((name) => [name, good[name] as fc.Arbitrary<string>])),
    { requiredKeys: [] },
  ) as fc.Arbitrary<Record<string, string>>
  const needed = Object.fromEntries(headers.flatMap(({ name, required }) => (required ? [[name, '*']] : [])))
  const allowed = fc.oneof(fc.constant({}), given).map((fields) => ({ fields: { ...needed, ...fields } }))
  const forbidden: fc.Arbitrary<RequestHeaders>[] = names.flatMap((header) => {
    const known = bad[header]
    if (known === undefined) return []
    const { code, texts } = known
    const refusal = { status: 400, code, header }
    return [texts.map((text) => ({ fields: { ...needed, [header]: text }, refusal }))]
  })
  if (Object.keys(needed).length > 0) {
    forbidden.push(fc.constant({ fields: {}, refusal: { status: 428, code: 'precondition-required' } }))
  }
  return { allowed, forbidden: forbidden.length === 0 ? undefined : fc.oneof(...forbidden) }
}
