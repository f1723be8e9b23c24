import type { Salted } from '../../../proof/line.ts'
import { eventKinds } from '../../audit/audit.ts'
import type { Person } from '../../caller/principal.ts'
import { answerOf, flag, instant, int32, nullable, text } from '../../http/answers.ts'
import {
  anyText,
  bodyOf,
  Fault,
  type Field,
  listOf,
  orNull,
  positiveInt32Field,
  queryOf,
  refined,
} from '../../http/fields.ts'
import { directionField, pageNumberField, pageSchema, pageSizeField } from '../../http/paging.ts'
import { Type } from '../../http/schema.ts'
import { legibleText } from '../../http/text.ts'
import { PasskeyRequestOptions } from '../../http/webauthn.ts'
import { aboutDocument, noteField, orderIdField, wordsLimit } from '../schemas.ts'
import type { EventDocument } from './history.ts'

const reasonField = legibleText(
  wordsLimit,
  'The reason, which is kept in the history of the order.',
  'The total differs from the offer.',
  { lines: true },
)

export const RejectOrderCommand = bodyOf('RejectOrderCommand', 'Why the order is rejected.', {
  reason: reasonField,
})

const optionalReason: Field<string | null> = { ...reasonField, isOptional: true }

export const WithdrawOrderCommand = bodyOf('WithdrawOrderCommand', 'Why the order is withdrawn; optional.', {
  reason: optionalReason,
})

export const AddNoteCommand = bodyOf('AddNoteCommand', 'A note on an order.', {
  text: noteField,
})

/** The note with which an agent proposes an order. */
export const whyField = legibleText(
  wordsLimit,
  'Why the order is proposed, for the person who decides. It is kept in the history of the order.',
  'The customer reordered by mail of 20 November; the total is that of the last order.',
  { lines: true },
)

const ordersLimit = 100

export const orderId = orderIdField('Id of the order.')

export const PrepareDecisionsCommand = bodyOf('PrepareDecisionsCommand', 'Decisions to sign by one touch.', {
  action: refined(
    anyText,
    text('What to do: approve or reject.', 'approve', { enum: ['approve', 'reject'] }),
    (given) =>
      given === 'approve' || given === 'reject' ? given : new Fault('unknown', 'must be approve or reject.'),
  ),
  orders: listOf(
    {
      id: orderId,
      version: positiveInt32Field('Row version that was read: the number in its entity tag.', 1),
    },
    {
      limit: ordersLimit,
      description: `1 to ${ordersLimit} orders, each once.`,
      judge(entries, report) {
        const seen = new Set<string | undefined>()
        for (const [index, { id }] of entries.entries()) {
          if (id !== undefined && seen.has(id)) report(index, 'id', new Fault('repeated', 'must not repeat.'))
          seen.add(id)
        }
      },
    },
  ),
  reason: { ...reasonField, isOptional: true },
})

export const PreparedDecisions = answerOf('PreparedDecisions', undefined, {
  statements: Type.Array(
    text('Canonical JSON (RFC 8785) of one decision.', '{"action":"approve","byId":3}'),
    {
      description: 'One for each order, in the order of the request. They are what is signed, to the byte.',
    },
  ),
  clear: Type.Array(
    Type.Unsafe<Record<string, Salted>>({
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['salt', 'value'],
        properties: { salt: { type: 'string' }, value: { type: 'string' } },
      },
      description:
        'By the names of `hashes` in the statement: customer, by, and byName, for, forName and text where there are.',
      examples: [{ by: { salt: '000102030405060708090a0b0c0d0e0f', value: 'ann' } }],
    }),
    { description: 'For each statement, the values and salts that its hashes are made of. Check them too.' },
  ),
  options: PasskeyRequestOptions,
})

const eventId = text('Id of the event.', '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a58', { format: 'uuid' })

export const AddNoteResponse = answerOf('AddNoteResponse', undefined, { id: eventId })

const by = text('User name or clientId at that time; `machine:` and a name for a command line.', 'admin')
const byId = nullable('integer', 'Id of that account; null if no account did it.', 1)
const byName = nullable(
  'string',
  'The name of that person as it is printed, at that time; null for none, or if it was erased.',
  'Ann Lee',
)
const absentPerson = {
  for: nullable('string', 'The absent person in whose place it was done; else null.', null),
  forName: nullable('string', 'The name of that person as it is printed; null for none.', null),
  forId: nullable('integer', 'Id of that account.', null),
}
const atUtc = instant('When.', '2026-11-20T10:00:00.000Z')

const OrderEvent = answerOf(
  'OrderEvent',
  'An event of an order. It is never deleted; only names and texts can be erased from it.',
  {
    id: eventId,
    kind: text(`What happened: ${eventKinds.order.join(', ')}. Further kinds may come.`, 'approved'),
    version: int32('Row version of the order afterwards.', 2),
    atUtc,
    atTimeZone: nullable('string', 'IANA time zone in which it was done.', 'Europe/Berlin'),
    by,
    byName,
    byId,
    ...absentPerson,
    text: nullable('string', 'Reason or note; null if there is none or if it was erased.', null),
    document: Type.Unsafe<EventDocument | null>(
      orNull({
        ...Type.Object({
          ...aboutDocument,
          name: nullable('string', 'Null if it was erased.', 'Offer 4711.pdf'),
        }),
        description: 'The document that was added, removed or erased; null for other events.',
        examples: [null],
      }),
    ),
    erased: Type.Array(text('A name of `clear`.', 'text'), {
      description: 'The names and texts of the event that were erased, sorted.',
      examples: [[]],
    }),
    sequence: nullable(
      'integer',
      'Place in the log of all events; null until it is sealed, within two seconds.',
      1043,
    ),
    hash: nullable(
      'string',
      'Hexadecimal SHA-256 of the event, its leaf of the tree; null until it is sealed.',
      '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    ),
  },
)

export const PaginatedListOfOrderEvent = pageSchema('PaginatedListOfOrderEvent', OrderEvent)

export const historyFields = {
  pageNumber: pageNumberField,
  pageSize: pageSizeField,
  order: directionField('Without it: Asc, oldest first.'),
}

export const ListHistoryQuery = queryOf(historyFields)

export const OrderApprovals = answerOf('OrderApprovals', undefined, {
  number: Type.Unsafe<number>({
    type: 'integer',
    description: 'The short number of the order, as the column `number` of a list has it.',
    examples: [1042],
  }),
  proposedBy: nullable(
    'string',
    'clientId of the service that created the order, such as an agent; null if a person did.',
    'purchasing-agent',
  ),
  replaces: nullable('string', 'Id of the rejected or withdrawn order that it replaces.', null),
  replacedBy: nullable('string', 'Id of the order that replaces it.', null),
  required: int32('How many approvals the order needs, by the policy when it was created.', 2),
  given: Type.Array(
    Type.Object({
      ...{ by, byName, byId, atUtc, ...absentPerson },
      signed: flag('Whether the approver signed it with a passkey.', false),
    }),
    { description: 'In the order of the log.' },
  ),
  selfApproval: flag('Whether the creator may approve the order.', false),
  services: flag('Whether services may approve the order.', false),
  role: nullable('string', 'The role that at least one approver must hold; null for none.', 'Finance'),
  passkey: flag('Whether each approval must be signed with a passkey.', false),
  mayApprove: flag('Whether the caller may approve it now, if need be with a signature.', true),
  mayApproveFor: Type.Unsafe<Person | null>(
    orNull({
      ...Type.Object({ id: int32('Id of the account.', 4), name: text('User name.', 'ann') }),
      description: 'The absent person in whose place the caller would approve; null in their own right.',
      examples: [null],
    }),
  ),
  reason: nullable(
    'string',
    'Code of the problem that an approval by the caller would get now; null if it would succeed.',
    null,
  ),
})

export const OrderProof = Type.String({
  description:
    'A tlog-proof (c2sp.org/tlog-proof): the line of the approval, its path to the root of a checkpoint, and the checkpoint.',
  examples: [
    'c2sp.org/tlog-proof@v1\nextra eyJhdFRpbWVab25lIjpudWxsfQ==\nindex 1042\nn4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=\n\norders.example.com/log\n1043\nn4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=\n\n— orders.example.com/log qTeDQ…\n',
  ],
})

export const OrderReceipt = answerOf('OrderReceipt', undefined, {
  receipt: text(
    'A JWS (typ `countersign-receipt+jwt`), with the claims `iss`, `iat`, `lines` and `checkpoint`. `lines` has each line of the log that belongs to the approval, as `{line, proof}`. The key of the log at /v1/log/key is enough to check it; the signature by a key of /.well-known/jwks.json adds nothing.',
    'header.payload.signature',
  ),
})
