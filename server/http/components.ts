import { factsOf } from './fields.ts'

export type Json = Record<string, unknown>
type Kind = 'headers' | 'parameters' | 'responses'

/** A part of the description, which becomes a reference once `describe` has made it a component. */
class Part {
  readonly kind: Kind
  readonly content: Json
  readonly names: readonly string[]
  uses = 0
  reference: Json | undefined

  constructor(kind: Kind, content: Json, names: readonly string[]) {
    this.kind = kind
    this.content = content
    this.names = names
  }

  toJSON(): Json {
    return this.reference ?? this.content
  }
}

/** The parts that the description writes once, under `components`, and refers to from elsewhere. */
export class Components {
  readonly #schemas: Json = {}
  readonly #parts = new Map<string, Part>()

  schema(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((member) => this.schema(member))
    if (typeof schema !== 'object' || schema === null) return schema
    const members = Object.entries(typesApart(schema)).map(([key, value]) => [key, this.schema(value)])
    const inline = Object.fromEntries(members)
    const { name } = factsOf(schema)
    if (name === undefined) return inline
    this.#schemas[name] ??= inline
    return { $ref: `#/components/schemas/${name}` }
  }

  /** A part that may occur in several places, with the names that it may have, best first. */
  part(kind: Kind, content: Json, ...names: readonly string[]): Part {
    const key = `${kind} ${JSON.stringify(content)}`
    const known = this.#parts.get(key)
    const part = known ?? new Part(kind, content, names)
    this.#parts.set(key, part)
    part.uses += 1
    // Only a reference to an answer is repeated, not the headers in it.
    if (known) for (const header of Object.values(content.headers ?? {})) header.uses -= 1
    return part
  }

  /**
   * Call it last: each part with several uses becomes a component. If parts share a name, the one with the
   * most uses gets it, and another takes its next name or stays where it is used.
   */
  describe(): Json {
    const parts: Record<Kind, Json> = { headers: {}, parameters: {}, responses: {} }
    const shared = [...this.#parts.values()].filter(({ uses }) => uses > 1)
    for (const part of shared.sort((a, b) => b.uses - a.uses)) {
      const { kind, content, names } = part
      const name = names.find((each) => !Object.hasOwn(parts[kind], each))
      if (name === undefined) continue
      parts[kind][name] = content
      part.reference = { $ref: `#/components/${kind}/${name}` }
    }
    const kinds = Object.entries({ schemas: this.#schemas, ...parts })
    return Object.fromEntries(kinds.map(([kind, components]) => [kind, sorted(components)]))
  }
}

function sorted(components: Json): Json {
  return Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Gives a value that may be sent as text a schema for each of its forms, because generated clients apply a
 * pattern next to two types to both. (The schema of a route keeps them together, which is quicker to
 * serialize.)
 */
function typesApart(schema: object): object {
  const { type, pattern, format, minimum, maximum, exclusiveMinimum, ...about } = schema as Json
  if (!Array.isArray(type) || pattern === undefined) return schema
  const plain = { type: type[0], format, minimum, maximum, exclusiveMinimum }
  return { anyOf: [plain, { type: 'string', pattern }], ...about }
}
