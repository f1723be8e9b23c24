import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** The types of the client. The generator needs TypeScript 5, so it lives in a separate workspace. */
export async function clientTypes(description: Description): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-types-'))
  const generator = new URL('openapi-types/node_modules/openapi-typescript/bin/cli.js', import.meta.url)
  const [source, target] = [join(folder, 'openapi.json'), join(folder, 'schema.ts')]
  try {
    await writeFile(source, JSON.stringify(withPlainAnswers(leanOf(description))))
    await promisify(execFile)(process.execPath, [fileURLToPath(generator), source, '--output', target], {
      cwd: folder,
    })
    return await readFile(target, 'utf8')
  } finally {
    await rm(folder, { recursive: true })
  }
}

type Json = Record<string, unknown>
type Operation = { responses: Record<string, Json>; requestBody?: Json }
interface Description {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Json; responses: Record<string, Json>; parameters: Json }
}

/**
 * The part of the description that the client needs: parameters, bodies, successful answers, schemas. A
 * failure has one type for all operations (`client/src/problem.ts`), and headers have none.
 */
function leanOf(description: Description): Description {
  const { paths, components } = mapped(description, withoutExamples)
  const contentOnly = ({ $ref, content }: Json) => ({ $ref, content, description: '' })
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
    operation.responses = changed(operation.responses, (status) => status.startsWith('2'), contentOnly)
  }
  const left = JSON.stringify(paths)
  const isLeft = (name: string) => left.includes(`"#/components/responses/${name}"`)
  const { schemas, parameters, responses } = components
  return {
    ...description,
    paths,
    components: { schemas, parameters, responses: changed(responses, isLeft, contentOnly) },
  }
}

/** A part of the description, except a list of properties: one of those may have the name. */
function withoutExamples(part: Json, key: string): Json {
  const { example, examples, ...rest } = part
  return key === 'properties' ? part : rest
}

/** The entries whose key is wanted, with each value changed. */
function changed<T>(
  entries: Record<string, T>,
  isWanted: (key: string) => boolean,
  change: (value: T) => T,
): Record<string, T> {
  const wanted = Object.entries(entries).filter(([key]) => isWanted(key))
  return Object.fromEntries(wanted.map(([key, value]) => [key, change(value)]))
}

/**
 * The service takes a number as text too, but always sends a number. So schemas of answers say a number. If a
 * request uses one of them as well, it gets its own copy.
 */
function withPlainAnswers(description: Description): Description {
  const { paths, components } = structuredClone(description)
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  const sent = schemasIn([components.responses, operations.map(({ responses }) => responses)], components)
  const inPlace = (part: Json) => {
    const [name = ''] = namesIn(part.$ref)
    return sent.has(name) ? components.schemas[name] : part
  }
  for (const operation of operations) {
    if (operation.requestBody) operation.requestBody = mapped(operation.requestBody, inPlace)
  }
  const schemas = Object.entries(components.schemas).map(([name, schema]) => [
    name,
    sent.has(name) ? mapped(schema, plainNumber) : schema,
  ])
  return { ...description, paths, components: { ...components, schemas: Object.fromEntries(schemas) } }
}

function namesIn(value: unknown): string[] {
  return JSON.stringify(value ?? '').match(/(?<=#\/components\/schemas\/)\w+/g) ?? []
}

/** The names of all schemas that the value refers to, and of those that these refer to. */
function schemasIn(value: unknown, { schemas }: Description['components']): Set<string> {
  const found = new Set<string>()
  const follow = (names: string[]) => {
    for (const name of names.filter((each) => !found.has(each))) {
      found.add(name)
      follow(namesIn(schemas[name]))
    }
  }
  follow(namesIn(value))
  return found
}

function mapped<T>(value: T, change: (part: Json, key: string) => unknown): T {
  const isObject = (part: unknown): part is Json =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
  return JSON.parse(JSON.stringify(value), (key, part) => (isObject(part) ? change(part, key) : part))
}

function plainNumber(schema: Json): Json {
  const [plain, text] = (schema.anyOf ?? []) as Json[]
  const isEither = text?.type === 'string' && (plain?.type === 'integer' || plain?.type === 'number')
  return isEither ? { ...schema, ...plain, anyOf: undefined } : schema
}
