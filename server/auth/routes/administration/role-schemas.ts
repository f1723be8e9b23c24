import { bodyOf, Fault, type Field, int32Schema, named, queryOf } from '../../../http/fields.ts'
import { pageNumberField, pageSchema, pageSizeField } from '../../../http/paging.ts'
import { permissionSchema } from '../../../http/problem-schema.ts'
import { Type } from '../../../http/schema.ts'
import { isPermission, type Permission, permissions } from '../../../permissions.ts'
import { nameField } from './fields.ts'

const permissionsField: Field<Permission[]> = {
  schema: Type.Array(Type.Unsafe<Permission>({ type: 'string', enum: [...permissions] }), {
    uniqueItems: true,
    description: 'What the role may do, each once.',
    examples: [['Orders.Read']],
  }),
  read(value) {
    if (!Array.isArray(value)) return new Fault('type', 'must be a list.')
    if (!value.every((one) => typeof one === 'string' && isPermission(one))) {
      return new Fault('enum', `must have permissions: ${permissions.join(', ')}.`)
    }
    return new Set(value).size === value.length
      ? (value as Permission[])
      : new Fault('repeated', 'must have each permission once.')
  },
}

export const AddRoleCommand = bodyOf('AddRoleCommand', 'A new role.', {
  name: nameField('How the role is called; no two differ in case alone.', 'Auditor'),
  permissions: permissionsField,
})

export const SetRolePermissionsCommand = bodyOf('SetRolePermissionsCommand', 'What the role may do.', {
  permissions: permissionsField,
})

export const Role = named(
  'Role',
  Type.Object(
    {
      name: Type.String({ description: 'How the role is called.', examples: ['Auditor'] }),
      permissions: Type.Array(permissionSchema, {
        description: 'What it may do, in alphabetical order.',
        examples: [['Log.Read', 'Orders.Read']],
      }),
      accounts: int32Schema({ description: 'How many users and services have it.', examples: [2] }),
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
          'Whether a service holds it through a role that has it: decisions about who decides are for people.',
        examples: [true],
      }),
    },
    { description: 'A permission.' },
  ),
)

export const PaginatedListOfPermission = pageSchema('PaginatedListOfPermission', PermissionFact)

export const PagesQuery = queryOf({ pageNumber: pageNumberField, pageSize: pageSizeField })
