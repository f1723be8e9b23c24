import { forModels, type Schema } from '../http/schema.ts'

const ofAnswers = ['type', 'description', 'properties', 'required', 'items'] as const
const ofArguments = [
  ...ofAnswers,
  ...(['enum', 'default', 'minimum', 'exclusiveMinimum', 'maximum', 'minLength', 'maxLength'] as const),
  'additionalProperties',
] as const

/**
 * The arguments of a tool, as a model reads them: each member has one type, names are an `enum`, and patterns
 * and formats are left out, because hosts hand the schema to models whose dialects differ. The tool accepts
 * whatever HTTP does.
 */
export const argumentsForModels = (schema: Schema): Schema => asRead(schema, ofArguments)

/** The answer of a tool, in the same way. `withoutNulls` leaves out the members that would be null. */
export const answerForModels = (schema: Schema): Schema => ({
  ...asRead(schema, ofAnswers),
  description: 'A member that would be null is left out.',
})

/** As JSON. */
export function withoutNulls(answer: object): string {
  return JSON.stringify(answer, (_, value) => value ?? undefined)
}

function asRead(schema: Schema, keywords: readonly string[]): Schema {
  const all: Schema = { ...alternativesOf(schema)[0], ...schema, ...schema[forModels] }
  const read: Schema = {}
  for (const keyword of keywords) if (all[keyword] !== undefined) read[keyword] = all[keyword]
  read.type = [all.type].flat()[0]
  if (all.items !== undefined) read.items = asRead(all.items as Schema, keywords)
  const members = Object.entries((all.properties ?? {}) as Record<string, Schema>)
  if (members.length === 0) return read
  read.properties = Object.fromEntries(members.map(([name, member]) => [name, asRead(member, keywords)]))
  const nullable = members.flatMap(([name, member]) => (isNullable(member) ? [name] : []))
  read.required = ((all.required ?? []) as string[]).filter((name) => !nullable.includes(name))
  return read
}

const alternativesOf = ({ anyOf = [] }: Schema) => anyOf as Schema[]

function isNullable(schema: Schema): boolean {
  return [schema, ...alternativesOf(schema)].some(({ type }) => [type].flat().includes('null'))
}
