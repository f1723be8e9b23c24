import { answerOf, text } from '../http/answers.ts'
import { anyText, bodyOf, Fault, type Field, named, refined, textField } from '../http/fields.ts'
import { Type } from '../http/schema.ts'

const version = text('The version of JSON-RPC.', '2.0', { enum: ['2.0'] })

const id = Type.Unsafe<string | number>({
  type: ['string', 'integer'],
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Chosen by the client; the answer repeats it.',
  examples: [1],
})

export function isId(value: unknown): value is string | number {
  return typeof value === 'string' ? value.isWellFormed() : Number.isSafeInteger(value)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const idField: Field<string | number | undefined> = {
  schema: { ...id, description: `${id.description} A notification has none.` },
  isOptional: true,
  tellsAbsence: true,
  read: (value) =>
    isId(value) ? value : new Fault('type', 'must be a well-formed string or a whole number.'),
}

const paramsField: Field<Record<string, unknown> | null> = {
  schema: Type.Unsafe({ type: 'object', description: 'Parameters of the method.', examples: [{}] }),
  isOptional: true,
  read: (value) => (isObject(value) ? value : new Fault('type', 'must be a JSON object.')),
}

export const McpMessage = bodyOf(
  'McpMessage',
  'One request or notification of JSON-RPC 2.0. Batches and responses are refused.',
  {
    jsonrpc: refined(anyText, version, (given) =>
      given === '2.0' ? given : new Fault('unknown', 'must be 2.0.'),
    ),
    id: idField,
    method: textField(1, 100, 'Name of the method.', 'tools/list'),
    params: paramsField,
  },
)

const error = {
  code: Type.Unsafe<number>({ type: 'integer', description: 'By JSON-RPC and MCP.', examples: [-32601] }),
  message: text('The cause.', 'Method not found'),
  data: named('McpErrorData', Type.Unsafe({ type: 'object', description: 'The problem.', examples: [{}] })),
}

/** JSON-RPC defines the content of `error`. */
export const McpFailure = answerOf('McpFailure', 'A failed request, if its message could be judged.', {
  jsonrpc: version,
  id: Type.Optional(id),
  error: Type.Object(error, { description: 'With the problem as `data`.' }),
})

export const McpAnswer = answerOf('McpAnswer', 'The result, or the error of an earlier revision.', {
  jsonrpc: version,
  id,
  result: Type.Optional(
    Type.Unsafe({ type: 'object', description: 'By the revision of the protocol.', examples: [{}] }),
  ),
  error: Type.Optional(Type.Object(error, { description: 'With the problem as `data`.' })),
})
