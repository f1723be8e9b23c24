import { answerOf, flag, instant, int32, nullable, text } from '../../../http/answers.ts'
import { booleanField, changeBodyOf, exactBodyOf } from '../../../http/fields.ts'
import { pageSchema } from '../../../http/paging.ts'
import { permissionSchema } from '../../../http/problem-schema.ts'
import { Type } from '../../../http/schema.ts'
import { accountNameField, nameField } from '../../../http/text.ts'
import {
  clearable,
  displayNameField,
  endField,
  newEmailField,
  optional,
  ownerField,
  permissionsField,
  printedNameField,
  rolesField,
  timeZoneField,
} from './fields.ts'

const id = int32('Id of the account.', 2)
const roles = Type.Array(Type.String(), {
  description: 'Names of the roles, sorted.',
  examples: [['Operator']],
})
const createdAtUtc = instant('When it was created.', '2026-11-20T10:00:00.000Z')

const userName = accountNameField('Name of the user on orders and in the log.', 'jo')

export const AddUserCommand = exactBodyOf('AddUserCommand', 'A new user, who has no password yet.', {
  userName,
  name: optional(printedNameField),
  email: newEmailField,
  roles: rolesField,
  timeZone: optional(timeZoneField),
})

export const ChangeUserCommand = changeBodyOf('ChangeUserCommand', {
  userName: optional(userName),
  name: clearable(printedNameField),
  email: optional(newEmailField),
  timeZone: clearable(timeZoneField),
  roles: optional(rolesField),
  enabled: optional(
    booleanField('Whether the user can sign in. Disabling ends every session and token.', true),
  ),
})

export const AddUserResponse = answerOf('AddUserResponse', undefined, { id })

export const UserAccount = answerOf('UserAccount', 'A user as administrators see it.', {
  id,
  userName: text('Name of the user.', 'jo'),
  name: nullable('string', 'The name as it is printed next to the user name; null for none.', 'Jo Ann Lee'),
  email: text('The email that the user signs in with.', 'jo@example.com'),
  timeZone: nullable(
    'string',
    'Time zone of audit stamps, as an IANA name; null for the default of the service.',
    'Europe/Berlin',
  ),
  roles,
  enabled: flag('Whether the user can sign in.', true),
  hasPassword: flag('False until the user has set a password by a link.', true),
  hasCompanyAccount: flag('Whether the user can sign in with a company account.', false),
  lastSignInAtUtc: Type.Optional(
    nullable(
      'string',
      'Only in lists, because a sign-in does not change the entity tag. Null if the user has not signed in since version 1.1.0.',
      '2026-11-20T10:00:00.000Z',
      { format: 'date-time' },
    ),
  ),
  createdAtUtc,
})

export const PaginatedListOfUserAccount = pageSchema('PaginatedListOfUserAccount', UserAccount)

export const UserLink = answerOf('UserLink', undefined, {
  link: text(
    'Where the user sets the password. Shown once, and stored as a hash.',
    'https://orders.example.com/link#token=Vd7sMZbAt0cNhyYHn2xPHdLTmWpVrkGSzX2ohmDzyaU',
  ),
  expiresAtUtc: instant('When the link expires.', '2026-11-21T10:00:00.000Z'),
})

export const AddClientCommand = exactBodyOf('AddClientCommand', 'A new service client.', {
  clientId: accountNameField(
    'Name of the service in its tokens, on orders and in the log; it never changes.',
    'billing',
  ),
  displayName: optional(displayNameField),
  roles: rolesField,
  endsAtUtc: optional(endField),
  ownerId: clearable(ownerField),
})

export const ChangeClientCommand = changeBodyOf('ChangeClientCommand', {
  displayName: clearable(displayNameField),
  endsAtUtc: clearable(endField),
  ownerId: clearable(ownerField),
  roles: optional(rolesField),
  enabled: optional(booleanField('Whether the client gets tokens. Disabling ends those that it has.', true)),
})

export const RotateClientSecretCommand = exactBodyOf(
  'RotateClientSecretCommand',
  'How to replace the secret.',
  {
    dropOld: optional(
      booleanField(
        'Ends every earlier secret at once, with the tokens issued for them; false if left out.',
        false,
      ),
    ),
  },
)

const clientSecret = text(
  'The secret. Shown once, and stored as a hash.',
  'Vd7sMZbAt0cNhyYHn2xPHdLTmWpVrkGSzX2ohmDzyaU',
)

export const AddClientResponse = answerOf('AddClientResponse', undefined, { id, clientSecret })
export const RotateClientSecretResponse = answerOf('RotateClientSecretResponse', undefined, { clientSecret })

export const ClientAccount = answerOf('ClientAccount', 'A service client as administrators see it.', {
  id,
  clientId: text('Name of the service in its tokens.', 'billing'),
  displayName: nullable('string', 'Name for people.', 'Billing, nightly run'),
  roles,
  enabled: flag('Whether the client gets tokens.', true),
  secrets: int32('Active secrets: two during a rotation.', 1),
  endsAtUtc: nullable(
    'string',
    'From then on, the client gets no token; null for no end.',
    '2027-06-30T22:00:00.000Z',
    { format: 'date-time' },
  ),
  lastUsedAtUtc: nullable(
    'string',
    'When the client last got a token, to the minute; null for never.',
    '2026-11-20T10:00:00.000Z',
    { format: 'date-time' },
  ),
  ownerId: nullable(
    'integer',
    'Id of the user who counts as creator of the orders that the client creates; null for none.',
    3,
  ),
  owner: nullable('string', 'User name of the owner.', 'ann'),
  createdAtUtc,
})

export const PaginatedListOfClientAccount = pageSchema('PaginatedListOfClientAccount', ClientAccount)

export const AddRoleCommand = exactBodyOf('AddRoleCommand', 'A new role.', {
  name: nameField('Name of the role. Names are unique, ignoring case.', 'Auditor'),
  permissions: permissionsField,
})

export const SetRolePermissionsCommand = exactBodyOf(
  'SetRolePermissionsCommand',
  'The permissions of the role.',
  {
    permissions: permissionsField,
  },
)

export const Role = answerOf('Role', 'A name for several permissions.', {
  name: text('Name of the role.', 'Auditor'),
  permissions: Type.Array(permissionSchema, {
    description: 'Permissions of the role, in alphabetical order.',
    examples: [['Log.Read', 'Orders.Read']],
  }),
  accounts: int32('Number of users and services that have the role.', 2),
})

export const PaginatedListOfRole = pageSchema('PaginatedListOfRole', Role)

const PermissionFact = answerOf('PermissionFact', 'A permission.', {
  name: permissionSchema,
  services: flag(
    'Whether services can hold it. Only people hold permissions that decide what others may do.',
    true,
  ),
})

export const PaginatedListOfPermission = pageSchema('PaginatedListOfPermission', PermissionFact)
