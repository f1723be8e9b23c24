import type { LogLine } from '../../proof/line.ts'
import { answerOf, instant, nullable, text } from '../http/answers.ts'
import { Fault, type Field, instantField, queryOf, refined } from '../http/fields.ts'
import { directionField, pageNumberField, pageSchema, pageSizeField, paginatedField } from '../http/paging.ts'
import { type Of, Type } from '../http/schema.ts'
import { eventKinds } from './events/events.ts'

/** A member of `clear`. */
const saltedProperties = {
  salt: { type: ['string', 'null'], pattern: '^[0-9a-f]{32}$' },
  value: { type: ['string', 'null'] },
} as const

const LogEvent = answerOf(
  'LogEvent',
  'An event of the log. It never changes, except that names and texts can be erased from it.',
  {
    sequence: Type.Unsafe<number>({
      type: 'integer',
      minimum: 1,
      description: 'Place in the log, from 1 without gaps.',
      examples: [1043],
    }),
    id: text('Id of the event.', '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a58', { format: 'uuid' }),
    kind: text(
      `What happened: ${Object.values(eventKinds).flat().join(', ')}. Later versions may have more.`,
      'approved',
    ),
    subject: Type.Object(
      {
        kind: text(`${Object.keys(eventKinds).join(', ')}; later versions may have more.`, 'order'),
        id: text('Which one.', '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57'),
      },
      { description: 'The subject of the event.' },
    ),
    version: nullable(
      'integer',
      'Version of the order or the policy afterwards; null for other subjects.',
      2,
    ),
    atUtc: instant('When.', '2026-11-20T10:00:00.000Z'),
    atTimeZone: nullable('string', 'IANA time zone in which it was done.', 'Europe/Berlin'),
    byId: nullable('integer', 'Id of the account that did it; null for a command.', 1),
    forId: nullable(
      'integer',
      'Id of the absent person in whose place it was done; null if there is none.',
      null,
    ),
    data: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description:
        'Details, by kind: ids, numbers, codes, keys and hashes. An order has its total as a decimal string.',
      examples: [{ total: '1250.5' }],
    }),
    hashes: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string', pattern: '^[0-9a-f]{64}$' },
      description: 'By the names of `clear`: hexadecimal SHA-256 of the salt followed by the value.',
      examples: [{ by: '8dd9f4bd5b1a1a5a1b3b4c9cf1ed4e3c5b2cbf0c4d4a4d4c0b5b0d2cbd2c2f1e' }],
    }),
    clear: Type.Unsafe<LogLine['clear']>({
      type: 'object',
      additionalProperties: { type: 'object', required: ['salt', 'value'], properties: saltedProperties },
      description:
        'What people and customers were called, and what people wrote: `by` (user name or clientId at that time; `machine:` and a name for a command line), `for`, `customer`, `name` (of an account), `text` and others, by kind. Value and salt of each are null once it was erased.',
      examples: [{ by: { salt: '000102030405060708090a0b0c0d0e0f', value: 'admin' } }],
    }),
    hash: text(
      'Hexadecimal SHA-256 of the event, its leaf of the tree; docs/auditing.md says how.',
      '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      { pattern: '^[0-9a-f]{64}$' },
    ),
  } satisfies { [Name in keyof LogLine]: Of<LogLine[Name]> },
)

export const PaginatedListOfLogEvent = pageSchema('PaginatedListOfLogEvent', LogEvent)

/** Larger than any sequence that the log will reach. */
const sequencePattern = /^(?:0|[1-9]\d{0,14})$/

/** A number of events, or the place of one. */
function placeField(minimum: 0 | 1, description: string, facts: { default?: number; examples: number[] }) {
  const schema = Type.Unsafe<number>({
    type: ['integer', 'string'],
    pattern: sequencePattern.source,
    minimum,
    maximum: 999_999_999_999_999,
    description,
    ...facts,
  })
  const read = (value: unknown) => {
    const number = sequencePattern.test(String(value)) ? Number(value) : -1
    return number < minimum ? new Fault('type', `must be a whole number from ${minimum}.`) : number
  }
  return { schema, read } satisfies Field<number>
}

const afterField = placeField(0, 'Only events after this sequence.', { default: 0, examples: [0] })

function textOf(pattern: RegExp, wanted: string, description: string, example: string): Field<string> {
  return {
    schema: text(description, example, { pattern: pattern.source }),
    read: (value) =>
      typeof value === 'string' && pattern.test(value) ? value : new Fault('format', `must be ${wanted}.`),
  }
}

const subjectText = textOf(
  /^[a-z]{1,20}:[\w.*-]{1,100}$/,
  'a kind and an id, such as account:3',
  'Only events of this subject: its kind, a colon and its id.',
  'order:019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57',
)

const subjectField = refined(subjectText, subjectText.schema, (text) => {
  const colon = text.indexOf(':')
  return { kind: text.slice(0, colon), id: text.slice(colon + 1) }
})

/** Only events that match all of these. */
const filterFields = {
  subject: subjectField,
  kind: textOf(
    /^[a-z]+(?:-[a-z]+)*$/,
    'a kind of event, such as approved',
    'Only events of this kind.',
    'approved',
  ),
  by: textOf(
    /^[ -~\u00a0-\ud7ff\ue000-\uffff]{1,200}$/u,
    'a name of 1 to 200 characters',
    'Only events by this name, spelled as in `clear.by`.',
    'admin',
  ),
  from: instantField('Only events of this instant (RFC 3339, UTC with Z) or later.', '2026-11-01T00:00:00Z'),
  until: instantField('Only events before this instant (RFC 3339, UTC with Z).', '2026-12-01T00:00:00Z'),
}

export const ListLogQuery = queryOf({
  after: afterField,
  ...filterFields,
  pageNumber: pageNumberField,
  pageSize: pageSizeField,
  order: directionField('Without it: Asc, oldest first.'),
})

const latestField: Field<boolean> = {
  ...paginatedField,
  schema: {
    ...paginatedField.schema,
    default: false,
    description:
      'Whether it covers every event until now, although the witnesses may not have cosigned it yet.',
  },
}

export const GetLogCheckpointQuery = queryOf({ latest: latestField })

export const LogCheckpoint = Type.String({
  description:
    'A signed note (c2sp.org/tlog-checkpoint): the name of the log, how many events it has, the root over them in base64, a signature of each key of /v1/log/key, and the cosignatures of witnesses. It exposes any later change to these events.',
  examples: [
    'orders.example.com/log\n1043\nn4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=\n\n— orders.example.com/log qTeDQ…\n',
  ],
})

export const LogKeySet = answerOf('LogKeySet', 'The keys that sign checkpoints, by the name of the log.', {
  keys: Type.Array(
    Type.Object({
      verifierKey: text(
        'As tools for signed notes take it (c2sp.org/signed-note): name, id and key.',
        'orders.example.com/log+a9378340+ASbIqvyqMfh3BpEGMxmMW9XzRTnKpBCNxYUPfWT5ZSg0',
      ),
      jwk: Type.Object(
        {
          kty: text('', 'OKP'),
          crv: text('', 'Ed25519'),
          x: text('The key, base64url.', 'JsiqvKox-HcGkQYzGYxb1fNFOcqkEI3FhQ99ZPllKDQ'),
        },
        { description: 'The same key by RFC 8037.' },
      ),
    }),
  ),
})

export const GetLogProofQuery = queryOf({
  sequence: placeField(1, 'Prove that this event is in the tree. Not together with `from`.', {
    examples: [1043],
  }),
  from: placeField(1, 'Prove that the first `size` events begin with the first `from`.', {
    examples: [1000],
  }),
  size: placeField(1, 'The size of the tree, as a checkpoint names it.', { examples: [2000] }),
})

export const LogProof = answerOf('LogProof', undefined, {
  hashes: Type.Array(text('SHA-256, base64.', 'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg='), {
    description: 'From the bottom up, as RFC 9162 §2.1.3.1 and §2.1.4.1 order them.',
  }),
})
