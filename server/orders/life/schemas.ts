import { eventKinds } from '../../audit/audit.ts'
import {
  bodyOf,
  type Field,
  instantSchema,
  int32Schema,
  named,
  nullable,
  queryOf,
} from '../../http/fields.ts'
import { directionField, pageNumberField, pageSchema, pageSizeField } from '../../http/paging.ts'
import { Type } from '../../http/schema.ts'
import { legibleText } from '../../http/text.ts'

const wordsLimit = 1_000

const reasonField = legibleText(wordsLimit, {
  description: 'The reason, which is kept in the history of the order.',
  examples: ['The total differs from the offer.'],
  lines: true,
})

export const RejectOrderCommand = bodyOf('RejectOrderCommand', 'Why the order is rejected.', {
  reason: reasonField,
})

const optionalReason: Field<string | null> = { ...reasonField, isOptional: true }

export const WithdrawOrderCommand = bodyOf('WithdrawOrderCommand', 'Why the order is withdrawn; optional.', {
  reason: optionalReason,
})

export const AddNoteCommand = bodyOf('AddNoteCommand', 'A note on an order.', {
  text: legibleText(wordsLimit, {
    description: 'The note.',
    examples: ['Called the customer, who confirms the total.'],
    lines: true,
  }),
})

const eventId = Type.String({
  format: 'uuid',
  description: 'Id of the event.',
  examples: ['019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a58'],
})

export const AddNoteResponse = named('AddNoteResponse', Type.Object({ id: eventId }))

const by = Type.String({
  description: 'User name or clientId at that time; `machine:` and a name for a command line.',
  examples: ['admin'],
})
const byId = nullable('integer', {
  description: 'Id of that account; null if no account did it.',
  examples: [1],
})
const atUtc = instantSchema({ description: 'When.', examples: ['2026-11-20T10:00:00.000Z'] })

const OrderEvent = named(
  'OrderEvent',
  Type.Object(
    {
      id: eventId,
      kind: Type.String({
        description: `What happened: ${eventKinds.order.join(', ')}. Further kinds may come.`,
        examples: ['approved'],
      }),
      version: int32Schema({ description: 'Row version of the order afterwards.', examples: [2] }),
      atUtc,
      atTimeZone: nullable('string', {
        description: 'IANA time zone in which it was done.',
        examples: ['Europe/Berlin'],
      }),
      by,
      byId,
      text: nullable('string', {
        description: 'Reason or note; null if there is none or if it was erased.',
        examples: [null],
      }),
      sequence: nullable('integer', {
        description: 'Place in the log of all events; null until it is sealed, within two seconds.',
        examples: [1043],
      }),
      hash: nullable('string', {
        description:
          'Hexadecimal SHA-256 that chains the event to all earlier ones; null until it is sealed.',
        examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
      }),
    },
    {
      description: 'What happened to an order. An event is never deleted; only its text can be erased.',
    },
  ),
)

export const PaginatedListOfOrderEvent = pageSchema('PaginatedListOfOrderEvent', OrderEvent)

export const ListHistoryQuery = queryOf({
  pageNumber: pageNumberField,
  pageSize: pageSizeField,
  order: directionField('Without it: Asc, oldest first.'),
})

export const OrderApprovals = named(
  'OrderApprovals',
  Type.Object({
    required: int32Schema({
      description: 'How many approvals the order needs, by the policy when it was created.',
      examples: [2],
    }),
    given: Type.Array(Type.Object({ by, byId, atUtc }), { description: 'In the order of the log.' }),
    selfApproval: Type.Boolean({
      description: 'Whether the creator may approve the order.',
      examples: [false],
    }),
    mayApprove: Type.Boolean({ description: 'Whether the caller may approve it now.', examples: [true] }),
    reason: nullable('string', {
      description:
        'Code of the problem that an approval by the caller would get now; null if it would succeed.',
      examples: [null],
    }),
  }),
)

export const OrderReceipt = named(
  'OrderReceipt',
  Type.Object({
    receipt: Type.String({
      description:
        'A JWS (typ `countersign-receipt+jwt`), verified with the keys of /.well-known/jwks.json. It says what was approved, by whom and when, and its place in the log.',
      examples: ['header.payload.signature'],
    }),
  }),
)
