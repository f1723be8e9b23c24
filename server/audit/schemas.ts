import { Fault, type Field, instantField, instantSchema, named, nullable, queryOf } from '../http/fields.ts'
import { directionField, pageNumberField, pageSchema, pageSizeField } from '../http/paging.ts'
import { Type } from '../http/schema.ts'
import { eventKinds } from './audit.ts'

const LogEvent = named(
  'LogEvent',
  Type.Object(
    {
      sequence: Type.Unsafe<number>({
        type: 'integer',
        minimum: 1,
        description: 'Place in the log, from 1 without gaps.',
        examples: [1043],
      }),
      id: Type.String({
        format: 'uuid',
        description: 'Id of the event.',
        examples: ['019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a58'],
      }),
      kind: Type.String({
        description: `What happened: ${Object.values(eventKinds).flat().join(', ')}. Later versions may have more.`,
        examples: ['approved'],
      }),
      subject: Type.Object(
        {
          kind: Type.String({
            description: `${Object.keys(eventKinds).join(', ')}; later versions may have more.`,
            examples: ['order'],
          }),
          id: Type.String({
            description: 'Which one.',
            examples: ['019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57'],
          }),
        },
        { description: 'What it happened to.' },
      ),
      version: nullable('integer', {
        description: 'Version of the order or the policy afterwards; null for other subjects.',
        examples: [2],
      }),
      atUtc: instantSchema({ description: 'When.', examples: ['2026-11-20T10:00:00.000Z'] }),
      atTimeZone: nullable('string', {
        description: 'IANA time zone in which it was done.',
        examples: ['Europe/Berlin'],
      }),
      by: Type.String({
        description: 'User name or clientId at that time; `machine:` and a name for a command line.',
        examples: ['admin'],
      }),
      byId: nullable('integer', { description: 'Id of that account; null for a command.', examples: [1] }),
      data: Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        description: 'Details, by kind. An order has its customer, and its total as a decimal string.',
        examples: [{ customer: 'Acme', total: '1250.5' }],
      }),
      textHash: nullable('string', {
        description: 'Hexadecimal SHA-256 of the salt followed by the text; null if there was no text.',
        examples: [null],
      }),
      textSalt: nullable('string', {
        description: '16 bytes, hexadecimal. Null if there was no text or if it was erased.',
        examples: [null],
      }),
      text: nullable('string', {
        description: 'Reason or note; null if there was none or if it was erased.',
        examples: [null],
      }),
      hash: Type.String({
        pattern: '^[0-9a-f]{64}$',
        description:
          'Hexadecimal SHA-256 that chains the event to all earlier ones; docs/auditing.md says how.',
        examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
      }),
    },
    { description: 'An event of the log. It never changes, except that its text can be erased.' },
  ),
)

export const PaginatedListOfLogEvent = pageSchema('PaginatedListOfLogEvent', LogEvent)

/** More than the log will ever have. */
const sequencePattern = /^(?:0|[1-9]\d{0,14})$/

const afterField: Field<number> = {
  schema: Type.Unsafe<number>({
    type: ['integer', 'string'],
    pattern: sequencePattern.source,
    minimum: 0,
    maximum: 999_999_999_999_999,
    default: 0,
    description: 'Only events after this sequence.',
    examples: [0],
  }),
  read(value) {
    const isSequence = sequencePattern.test(String(value))
    return isSequence ? Number(value) : new Fault('type', 'must be a whole number from 0.')
  },
}

function textOf(
  pattern: RegExp,
  wanted: string,
  keywords: { description: string; examples: string[] },
): Field<string> {
  return {
    schema: Type.String({ pattern: pattern.source, ...keywords }),
    read: (value) =>
      typeof value === 'string' && pattern.test(value) ? value : new Fault('format', `must be ${wanted}.`),
  }
}

const subjectText = textOf(/^[a-z]{1,20}:[\w.*-]{1,100}$/, 'a kind and an id, such as account:3', {
  description: 'Only events of this subject: its kind, a colon and its id.',
  examples: ['order:019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57'],
})

const subjectField: Field<{ kind: string; id: string }> = {
  schema: subjectText.schema,
  read(value) {
    const text = subjectText.read(value)
    if (text instanceof Fault) return text
    const colon = text.indexOf(':')
    return { kind: text.slice(0, colon), id: text.slice(colon + 1) }
  },
}

/** Only events that match all of these. */
const filterFields = {
  subject: subjectField,
  kind: textOf(/^[a-z]+(?:-[a-z]+)*$/, 'a kind of event, such as approved', {
    description: 'Only events of this kind.',
    examples: ['approved'],
  }),
  by: textOf(/^[ -~\u00a0-\uffff]{1,200}$/u, 'a name of 1 to 200 characters', {
    description: 'Only events by this name, spelled as in the event.',
    examples: ['admin'],
  }),
  from: instantField({
    description: 'Only events of this instant (RFC 3339, UTC with Z) or later.',
    examples: ['2026-11-01T00:00:00Z'],
  }),
  until: instantField({
    description: 'Only events before this instant (RFC 3339, UTC with Z).',
    examples: ['2026-12-01T00:00:00Z'],
  }),
}

export const ListLogQuery = queryOf({
  after: afterField,
  ...filterFields,
  pageNumber: pageNumberField,
  pageSize: pageSizeField,
  order: directionField('Without it: Asc, oldest first.'),
})

export const LogCheckpoint = named(
  'LogCheckpoint',
  Type.Object({
    checkpoint: Type.String({
      description:
        'A JWS (typ `countersign-checkpoint+jwt`) over iss, size, hash and iat, verified with the keys of /.well-known/jwks.json. It shows any later change of the first `size` events.',
      examples: ['header.payload.signature'],
    }),
  }),
)
