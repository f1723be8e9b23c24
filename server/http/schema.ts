/** The type that a schema describes. Exists for the compiler only. */
declare const described: unique symbol
/** Marks an optional member. It is a symbol because it is not a keyword and is never sent. */
const optional = Symbol('optional')
/** Keywords that a language model reads instead of those for HTTP. A symbol, because it is never sent. */
export const forModels = Symbol('forModels')

export interface Keywords {
  [keyword: string]: unknown
  [forModels]?: Record<string, unknown>
}

/** A JSON Schema (2020-12), as it is published. */
export interface Schema extends Keywords {
  [described]?: unknown
  [optional]?: true
}
/** A schema that describes this type. */
export type Of<T> = Schema & { [described]?: T }
export type Static<S> = S extends { [described]?: infer T } ? T : unknown

type OptionalKeys<P> = { [K in keyof P]: P[K] extends { [optional]: true } ? K : never }[keyof P]
type Members<P> = { [K in Exclude<keyof P, OptionalKeys<P>>]: Static<P[K]> } & {
  [K in OptionalKeys<P>]?: Static<P[K]>
}

/**
 * Schemas that carry the TypeScript type they describe. A package for this would load 373 more files: an
 * eighth of the start-up time, and 18 MB.
 */
export const Type = {
  /** Any schema. The compiler cannot check its type. */
  Unsafe: <T>(schema: Keywords): Of<T> => schema,
  String: (keywords: Keywords = {}): Of<string> => ({ type: 'string', ...keywords }),
  Boolean: (keywords: Keywords = {}): Of<boolean> => ({ type: 'boolean', ...keywords }),
  Literal: <const T extends string>(value: T): Of<T> => ({ type: 'string', const: value }),
  Array: <S extends Schema>(items: S, keywords: Keywords = {}): Of<Static<S>[]> => ({
    type: 'array',
    items,
    ...keywords,
  }),
  Optional: <S extends Schema>(schema: S): S & { [optional]: true } => ({ ...schema, [optional]: true }),
  Object: <P extends Record<string, Schema>>(properties: P, keywords: Keywords = {}): Of<Members<P>> => {
    const required = Object.keys(properties).filter((name) => properties[name]?.[optional] === undefined)
    return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...keywords }
  },
}

/** The example of a schema: its own, or one made of its members' examples. */
export function exampleOf(schema: unknown): unknown {
  const { type, properties, items, examples, const: constant } = schema as Keywords
  if (Array.isArray(examples)) return examples[0]
  if (type === 'array') return [exampleOf(items)]
  if (type !== 'object') return constant
  const members = Object.entries(properties as Keywords)
  return Object.fromEntries(members.map(([name, member]) => [name, exampleOf(member)]))
}
