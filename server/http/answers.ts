import { int32Schema, named } from './fields.ts'
import { type Keywords, type Schema, Type } from './schema.ts'

/** The members of an answer: what each means, an example, and further keywords. */
export function text(description: string, example: string, keywords: Keywords = {}) {
  return Type.String({ ...keywords, description, examples: [example] })
}

export function flag(description: string, example: boolean) {
  return Type.Boolean({ description, examples: [example] })
}

export function int32(description: string, example: number, keywords: Keywords = {}) {
  return int32Schema({ ...keywords, description, examples: [example] })
}

/** RFC 3339, UTC, `Z`, milliseconds. */
export function instant(description: string, example: string) {
  return text(description, example, { format: 'date-time' })
}

interface Nullable {
  string: string
  integer: number
}

export function nullable<K extends keyof Nullable>(
  type: K,
  description: string,
  example: Nullable[K] | null,
  keywords: Keywords = {},
) {
  const schema = { type: [type, 'null'], ...keywords, description, examples: [example] }
  return Type.Unsafe<Nullable[K] | null>(schema)
}

/** An answer, or a part of one, that the OpenAPI description names. */
export function answerOf<P extends Record<string, Schema>>(
  name: string,
  description: string | undefined,
  members: P,
) {
  return named(name, Type.Object(members, description === undefined ? {} : { description }))
}
