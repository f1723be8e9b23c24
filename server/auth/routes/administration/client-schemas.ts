import {
  bodyOf,
  booleanField,
  instantField,
  instantSchema,
  int32Schema,
  named,
  queryOf,
} from '../../../http/fields.ts'
import { pageNumberField, pageSchema, pageSizeField } from '../../../http/paging.ts'
import { Type } from '../../../http/schema.ts'
import { legibleText } from '../../../http/text.ts'
import { clearable, nameField, optional, rolesField } from './fields.ts'

const nullableInstant = (keywords: Record<string, unknown>) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', ...keywords })

export const clientNameField = legibleText(200, {
  description: 'What people call it.',
  examples: ['Billing, nightly run'],
})

export const endField = instantField({
  description:
    'From the second of this instant (RFC 3339, UTC with Z) on it gets no token; what it has expires by then.',
  examples: ['2027-06-30T22:00:00Z'],
})

export const AddClientCommand = bodyOf('AddClientCommand', 'A new service client.', {
  clientId: nameField(
    'How the service is called in its tokens, on orders and in the log; it stays.',
    'billing',
  ),
  name: optional(clientNameField),
  roles: rolesField,
  endsAtUtc: optional(endField),
})

export const ChangeClientCommand = bodyOf('ChangeClientCommand', 'What is to change; the rest stays.', {
  name: clearable(clientNameField),
  endsAtUtc: clearable(endField),
  roles: optional(rolesField),
  enabled: optional(
    booleanField({
      description: 'Whether it gets tokens. Switching it off ends those that it has.',
      examples: [true],
    }),
  ),
})

export const RotateClientSecretCommand = bodyOf('RotateClientSecretCommand', 'How the secret is replaced.', {
  dropOld: optional(
    booleanField({
      description: 'Ends every earlier secret at once, and the tokens issued for them; false if left out.',
      examples: [false],
    }),
  ),
})

const id = int32Schema({ description: 'Id of the account.', examples: [4] })
const clientSecret = Type.String({
  description: 'The secret. It is shown once, and stored as a hash.',
  examples: ['Vd7sMZbAt0cNhyYHn2xPHdLTmWpVrkGSzX2ohmDzyaU'],
})

export const AddClientResponse = named('AddClientResponse', Type.Object({ id, clientSecret }))
export const RotateClientSecretResponse = named('RotateClientSecretResponse', Type.Object({ clientSecret }))

export const ClientAccount = named(
  'ClientAccount',
  Type.Object(
    {
      id,
      clientId: Type.String({
        description: 'How the service is called in its tokens.',
        examples: ['billing'],
      }),
      name: Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description: 'What people call it.',
        examples: ['Billing, nightly run'],
      }),
      roles: Type.Array(Type.String(), {
        description: 'Names of the roles, sorted.',
        examples: [['Operator']],
      }),
      enabled: Type.Boolean({ description: 'Whether it gets tokens.', examples: [true] }),
      secrets: int32Schema({ description: 'Active secrets: two during a rotation.', examples: [1] }),
      endsAtUtc: nullableInstant({
        description: 'From then on it gets no token; null for no end.',
        examples: ['2027-06-30T22:00:00.000Z'],
      }),
      lastUsedAtUtc: nullableInstant({
        description: 'When it last got a token, to a minute; null for never.',
        examples: ['2026-11-20T10:00:00.000Z'],
      }),
      createdAtUtc: instantSchema({
        description: 'When it was made.',
        examples: ['2026-11-20T10:00:00.000Z'],
      }),
    },
    { description: 'A service client as administrators see it.' },
  ),
)

export const PaginatedListOfClientAccount = pageSchema('PaginatedListOfClientAccount', ClientAccount)

export const ListClientsQuery = queryOf({ pageNumber: pageNumberField, pageSize: pageSizeField })
