import { permissions } from '../caller/permissions.ts'
import { catalogue } from '../problems/catalogue.ts'
import { named } from './fields.ts'
import { Type } from './schema.ts'

/** One of the names of this version, or of a later one: clients must not fail on a new name. */
function growing(name: string, names: readonly string[], description: string) {
  const anyOf = [{ type: 'string', enum: [...names] }, { type: 'string' }]
  return named(name, Type.Unsafe<string>({ anyOf, description, examples: names.slice(0, 1) }))
}

export const permissionSchema = growing('Permission', permissions, 'A permission of a role. The list grows.')

const fieldErrorSchema = named('FieldError', {
  type: 'object',
  description: 'A rule that one value broke. Exactly one of pointer, parameter and header says where.',
  required: ['code', 'detail'],
  properties: {
    pointer: { type: 'string', description: 'JSON pointer into the body, as a URI fragment.' },
    parameter: { type: 'string', description: 'Name of the query parameter.' },
    header: { type: 'string', description: 'Name of the request header.' },
    code: { type: 'string', description: 'The rule that broke.' },
    detail: { type: 'string', description: 'The rule in words.' },
    position: {
      type: 'integer',
      minimum: 0,
      description: 'In a filter: start of the faulty part, in UTF-16 units.',
    },
    length: {
      type: 'integer',
      minimum: 0,
      description: 'In a filter: length of the faulty part, in UTF-16 units.',
    },
    expected: {
      type: 'array',
      items: { type: 'string' },
      description: 'In a filter: what could be there.',
    },
    suggestion: {
      type: 'string',
      description: 'In a filter: what was probably meant, to put in place of the faulty part.',
    },
  },
})

export const problemSchema = named('Problem', {
  type: 'object',
  description: 'A failure (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'],
  properties: {
    type: { type: 'string', format: 'uri', description: 'Address of a page about this kind of problem.' },
    title: { type: 'string', description: 'The same text for every problem of this kind.' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'The cause this time, or the remedy.' },
    instance: { type: 'string', description: 'Path of the request.' },
    code: growing(
      'ProblemCode',
      Object.keys(catalogue),
      'Kind of problem, for programs. The list grows: treat an unknown code by its status.',
    ),
    requestId: { type: 'string', description: 'Also in the X-Request-Id header and in the log.' },
    errors: { type: 'array', description: 'Every field that failed.', items: fieldErrorSchema },
    permission: permissionSchema,
    currentStatus: {
      type: 'integer',
      description: 'With `order-not-pending` and `order-not-approved`: the EOrderStatus of the order.',
    },
    role: { type: 'string', description: 'With `role-needed`: the role that an approver must hold.' },
    accounts: { type: 'integer', description: 'With `role-held`: how many accounts have the role.' },
    totalCount: { type: 'integer', description: 'With `result-too-large`: how many orders match.' },
    limit: { type: 'integer', description: 'With `result-too-large`: how many orders may match.' },
    size: { type: 'integer', description: 'With `log-contradicted`: how many events the log has.' },
    witnesses: {
      type: 'array',
      description: 'With `log-contradicted`: the witnesses, and the size of the checkpoint that each has.',
      items: {
        type: 'object',
        required: ['name', 'size'],
        properties: { name: { type: 'string' }, size: { type: 'integer' } },
      },
    },
  },
})
