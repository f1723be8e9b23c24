import { isDeepStrictEqual } from 'node:util'
import { factsOf } from './fields.ts'

export type Json = Record<string, unknown>
type Kind = 'headers' | 'parameters' | 'responses'

/** A part of the description, which becomes a reference once `describe` has made it a component. */
class Part {
  readonly content: Json
  uses = 0
  reference: Json | undefined

  constructor(content: Json) {
    this.content = content
  }

  toJSON(): Json {
    return this.reference ?? this.content
  }
}

/** What the description writes once, under `components`, and refers to from elsewhere. */
export class Components {
  readonly #schemas: Json = {}
  readonly #parts = new Map<string, { kind: Kind; name: string; variants: Part[] }>()

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

  /** A part that may occur in several places. Parts with the same name may differ. */
  part(kind: Kind, name: string, content: Json): Part {
    const key = `${kind}/${name}`
    const variants: Part[] = this.#parts.get(key)?.variants ?? []
    this.#parts.set(key, { kind, name, variants })
    const known = variants.find((variant) => isDeepStrictEqual(variant.content, content))
    const part = known ?? new Part(content)
    if (known === undefined) variants.push(part)
    part.uses += 1
    return part
  }

  /**
   * Call it last: of the parts of one name, the one with the most uses becomes the component, if it has
   * several.
   */
  describe(): Json {
    const parts: Record<Kind, Json> = { headers: {}, parameters: {}, responses: {} }
    for (const { kind, name, variants } of this.#parts.values()) {
      const [first] = variants.toSorted((a, b) => b.uses - a.uses)
      if (first === undefined || first.uses === 1) continue
      parts[kind][name] = first.content
      first.reference = { $ref: `#/components/${kind}/${name}` }
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
