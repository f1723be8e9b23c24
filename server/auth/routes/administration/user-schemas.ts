import { bodyOf, booleanField, instantSchema, int32Schema, named, queryOf } from '../../../http/fields.ts'
import { pageNumberField, pageSchema, pageSizeField } from '../../../http/paging.ts'
import { Type } from '../../../http/schema.ts'
import { clearable, nameField, newEmailField, optional, rolesField, timeZoneField } from './fields.ts'

const userName = nameField('How the user is called on orders and in the log.', 'jo')
const enabledField = booleanField({
  description: 'Whether the user may sign in. Switching it off ends every session and token.',
  examples: [true],
})

export const AddUserCommand = bodyOf('AddUserCommand', 'A new user, who has no password yet.', {
  userName,
  email: newEmailField,
  roles: rolesField,
  timeZone: optional(timeZoneField),
})

export const ChangeUserCommand = bodyOf('ChangeUserCommand', 'What is to change; the rest stays.', {
  userName: optional(userName),
  email: optional(newEmailField),
  timeZone: clearable(timeZoneField),
  roles: optional(rolesField),
  enabled: optional(enabledField),
})

const id = int32Schema({ description: 'Id of the account.', examples: [2] })

export const AddUserResponse = named('AddUserResponse', Type.Object({ id }))

export const UserAccount = named(
  'UserAccount',
  Type.Object(
    {
      id,
      userName: Type.String({ description: 'How the user is called.', examples: ['jo'] }),
      email: Type.String({ description: 'What the user signs in with.', examples: ['jo@example.com'] }),
      timeZone: Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description: 'IANA time zone of audit stamps; null for the default of the service.',
        examples: ['Europe/Berlin'],
      }),
      roles: Type.Array(Type.String(), {
        description: 'Names of the roles, sorted.',
        examples: [['Operator']],
      }),
      enabled: Type.Boolean({ description: 'Whether the user may sign in.', examples: [true] }),
      hasPassword: Type.Boolean({
        description: 'False until a link has been used: the user cannot sign in before.',
        examples: [true],
      }),
      createdAtUtc: instantSchema({
        description: 'When it was made.',
        examples: ['2026-11-20T10:00:00.000Z'],
      }),
    },
    { description: 'A user as administrators see it.' },
  ),
)

export const PaginatedListOfUserAccount = pageSchema('PaginatedListOfUserAccount', UserAccount)

export const ListUsersQuery = queryOf({ pageNumber: pageNumberField, pageSize: pageSizeField })

export const UserLink = named(
  'UserLink',
  Type.Object({
    link: Type.String({
      description: 'Where the user sets the password. It is shown once, and stored as a hash.',
      examples: ['https://orders.example.com/link#token=Vd7sMZbAt0cNhyYHn2xPHdLTmWpVrkGSzX2ohmDzyaU'],
    }),
    expiresAtUtc: instantSchema({
      description: 'When it expires.',
      examples: ['2026-11-21T10:00:00.000Z'],
    }),
  }),
)
