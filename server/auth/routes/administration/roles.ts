import type { FastifyRequest } from 'fastify'
import { Problem } from '../../../http/problems.ts'
import type { App } from '../../../http/route.ts'
import { permissions, permissionsOfPeople } from '../../../permissions.ts'
import { findRole, listRoles, type Role as StoredRole } from '../../accounts/roles/store.ts'
import type { AuthParts } from '../../login.ts'
import { pageOf, registerAdd, registerChange, registerEnd, registerList, registerRead } from './resource.ts'
import {
  AddRoleCommand,
  PaginatedListOfPermission,
  PaginatedListOfRole,
  Role,
  SetRolePermissionsCommand,
} from './schemas.ts'

const url = '/v1/roles'
const one = {
  url: `${url}/:name`,
  parameters: {
    name: {
      description: 'Name of the role; case matters.',
      schema: { type: 'string' },
      example: 'Auditor',
    },
  },
}

export function registerRoles(app: App, parts: AuthParts): void {
  const { db } = parts
  registerList(app, {
    url,
    operationId: 'listRoles',
    summary: 'List roles',
    description: 'Ordered by name.',
    response: PaginatedListOfRole,
    find: async (page) => pageOf((await listRoles(db.read)).map(toResponse), page),
  })
  registerAdd(app, parts, {
    url,
    operationId: 'addRole',
    summary: 'Add a role',
    description: 'An account that gets the role has its permissions from the next sign-in or refresh on.',
    problems: ['name-taken'],
    body: AddRoleCommand,
    response: Role,
    add: async ({ name, permissions: wanted }, stamp) => {
      await db.write('addRole', { role: name, permissions: wanted, stamp })
      return { name, answer: { name, permissions: wanted.toSorted(), accounts: 0 } }
    },
  })
  registerRead(app, {
    ...one,
    operationId: 'getRole',
    summary: 'Read a role',
    description:
      'A change takes the entity tag as its If-Match. Giving the role to an account does not change the tag.',
    problems: ['role-not-found'],
    response: Role,
    find: async (request) => {
      const role = await findRole(db.read, nameOf(request))
      if (role === undefined) throw new Problem('role-not-found')
      return { version: role.version, answer: toResponse(role) }
    },
  })
  registerSetPermissions(app, parts)
  registerEnd(app, parts, {
    ...one,
    operationId: 'removeRole',
    summary: 'Remove a role that no account has',
    description: 'Take it from its accounts first: losing a role is a decision about each account.',
    problems: ['role-not-found', 'role-held'],
    end: (request, stamp) => db.write('removeRole', { role: nameOf(request), stamp }),
  })
  registerPermissions(app)
}

function registerSetPermissions(app: App, parts: AuthParts): void {
  registerChange(app, parts, {
    method: 'PUT',
    ...one,
    operationId: 'setRolePermissions',
    summary: 'Replace the permissions of a role',
    description:
      'Takes effect on every instance within five minutes, and ends no session or token. The last account that can manage accounts keeps that permission.',
    problems: ['role-not-found', 'last-administrator'],
    body: SetRolePermissionsCommand,
    change: (body, how, request) =>
      parts.db.write('setRolePermissions', { role: nameOf(request), ...body, ...how }),
  })
}

function registerPermissions(app: App): void {
  const all = permissions.map((name) => ({ name, services: !permissionsOfPeople.includes(name) }))
  registerList(app, {
    url: '/v1/permissions',
    operationId: 'listPermissions',
    summary: 'List the permissions',
    description: 'Everything that a role can hold. Later versions will add more.',
    response: PaginatedListOfPermission,
    find: async (page) => pageOf(all, page),
  })
}

function nameOf({ params }: FastifyRequest): string {
  return (params as { name: string }).name
}

function toResponse({ role, permissions: held, accounts }: StoredRole) {
  return { name: role, permissions: held, accounts }
}
