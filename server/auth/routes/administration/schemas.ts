import { bodyOf, booleanField, instantSchema, int32Schema, named } from '../../../http/fields.ts'
import { pageSchema } from '../../../http/paging.ts'
import { permissionSchema } from '../../../http/problem-schema.ts'
import { Type } from '../../../http/schema.ts'
import {
  clearable,
  clientNameField,
  endField,
  nameField,
  newEmailField,
  optional,
  permissionsField,
  rolesField,
  timeZoneField,
} from './fields.ts'

const id = int32Schema({ description: 'Id of the account.', examples: [2] })
const roles = Type.Array(Type.String(), {
  description: 'Names of the roles, sorted.',
  examples: [['Operator']],
})
const instant = (description: string, example: string) => instantSchema({ description, examples: [example] })
const createdAtUtc = instant('When it was created.', '2026-11-20T10:00:00.000Z')
const textOrNull = (description: string, example: string, format: { format?: string } = {}) =>
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    ...format,
    description,
    examples: [example],
  })
const dateTime = { format: 'date-time' }

const userName = nameField('Name of the user on orders and in the log.', 'jo')

export const AddUserCommand = bodyOf('AddUserCommand', 'A new user, who has no password yet.', {
  userName,
  email: newEmailField,
  roles: rolesField,
  timeZone: optional(timeZoneField),
})

export const ChangeUserCommand = bodyOf('ChangeUserCommand', 'What to change; the rest stays.', {
  userName: optional(userName),
  email: optional(newEmailField),
  timeZone: clearable(timeZoneField),
  roles: optional(rolesField),
  enabled: optional(
    booleanField({
      description: 'Whether the user can sign in. Disabling ends every session and token.',
      examples: [true],
    }),
  ),
})

export const AddUserResponse = named('AddUserResponse', Type.Object({ id }))

export const UserAccount = named(
  'UserAccount',
  Type.Object(
    {
      id,
      userName: Type.String({ description: 'Name of the user.', examples: ['jo'] }),
      email: Type.String({
        description: 'The email that the user signs in with.',
        examples: ['jo@example.com'],
      }),
      timeZone: textOrNull(
        'Time zone of audit stamps, as an IANA name; null for the default of the service.',
        'Europe/Berlin',
      ),
      roles,
      enabled: Type.Boolean({ description: 'Whether the user can sign in.', examples: [true] }),
      hasPassword: Type.Boolean({
        description: 'False until the user has set a password by a link; signing in needs one.',
        examples: [true],
      }),
      createdAtUtc,
    },
    { description: 'A user as administrators see it.' },
  ),
)

export const PaginatedListOfUserAccount = pageSchema('PaginatedListOfUserAccount', UserAccount)

export const UserLink = named(
  'UserLink',
  Type.Object({
    link: Type.String({
      description: 'Where the user sets the password. Shown once, and stored as a hash.',
      examples: ['https://orders.example.com/link#token=Vd7sMZbAt0cNhyYHn2xPHdLTmWpVrkGSzX2ohmDzyaU'],
    }),
    expiresAtUtc: instant('When the link expires.', '2026-11-21T10:00:00.000Z'),
  }),
)

export const AddClientCommand = bodyOf('AddClientCommand', 'A new service client.', {
  clientId: nameField(
    'Name of the service in its tokens, on orders and in the log; it never changes.',
    'billing',
  ),
  name: optional(clientNameField),
  roles: rolesField,
  endsAtUtc: optional(endField),
})

export const ChangeClientCommand = bodyOf('ChangeClientCommand', 'What to change; the rest stays.', {
  name: clearable(clientNameField),
  endsAtUtc: clearable(endField),
  roles: optional(rolesField),
  enabled: optional(
    booleanField({
      description: 'Whether the client gets tokens. Disabling ends those that it has.',
      examples: [true],
    }),
  ),
})

export const RotateClientSecretCommand = bodyOf('RotateClientSecretCommand', 'How to replace the secret.', {
  dropOld: optional(
    booleanField({
      description: 'Ends every earlier secret at once, with the tokens issued for them; false if left out.',
      examples: [false],
    }),
  ),
})

const clientSecret = Type.String({
  description: 'The secret. Shown once, and stored as a hash.',
  examples: ['Vd7sMZbAt0cNhyYHn2xPHdLTmWpVrkGSzX2ohmDzyaU'],
})

export const AddClientResponse = named('AddClientResponse', Type.Object({ id, clientSecret }))
export const RotateClientSecretResponse = named('RotateClientSecretResponse', Type.Object({ clientSecret }))

export const ClientAccount = named(
  'ClientAccount',
  Type.Object(
    {
      id,
      clientId: Type.String({ description: 'Name of the service in its tokens.', examples: ['billing'] }),
      name: textOrNull('Display name.', 'Billing, nightly run'),
      roles,
      enabled: Type.Boolean({ description: 'Whether the client gets tokens.', examples: [true] }),
      secrets: int32Schema({ description: 'Active secrets: two during a rotation.', examples: [1] }),
      endsAtUtc: textOrNull(
        'From then on, the client gets no token; null for no end.',
        '2027-06-30T22:00:00.000Z',
        dateTime,
      ),
      lastUsedAtUtc: textOrNull(
        'When the client last got a token, to the minute; null for never.',
        '2026-11-20T10:00:00.000Z',
        dateTime,
      ),
      createdAtUtc,
    },
    { description: 'A service client as administrators see it.' },
  ),
)

export const PaginatedListOfClientAccount = pageSchema('PaginatedListOfClientAccount', ClientAccount)

export const AddRoleCommand = bodyOf('AddRoleCommand', 'A new role.', {
  name: nameField('Name of the role; no two differ in case alone.', 'Auditor'),
  permissions: permissionsField,
})

export const SetRolePermissionsCommand = bodyOf('SetRolePermissionsCommand', 'What the role may do.', {
  permissions: permissionsField,
})

export const Role = named(
  'Role',
  Type.Object(
    {
      name: Type.String({ description: 'Name of the role.', examples: ['Auditor'] }),
      permissions: Type.Array(permissionSchema, {
        description: 'What the role may do, in alphabetical order.',
        examples: [['Log.Read', 'Orders.Read']],
      }),
      accounts: int32Schema({
        description: 'Number of users and services that have the role.',
        examples: [2],
      }),
    },
    { description: 'A name for several permissions.' },
  ),
)

export const PaginatedListOfRole = pageSchema('PaginatedListOfRole', Role)

const PermissionFact = named(
  'PermissionFact',
  Type.Object(
    {
      name: permissionSchema,
      services: Type.Boolean({
        description:
          'Whether services can hold it. Only people hold permissions that decide what others may do.',
        examples: [true],
      }),
    },
    { description: 'A permission.' },
  ),
)

export const PaginatedListOfPermission = pageSchema('PaginatedListOfPermission', PermissionFact)
