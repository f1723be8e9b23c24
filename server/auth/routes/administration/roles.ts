import type { FastifyRequest } from 'fastify'
import { permissions, permissionsOfPeople } from '../../../caller/permissions.ts'
import { addition, change, ending, list, pageOf, read } from '../../../http/resource.ts'
import type { Routes } from '../../../http/route.ts'
import { Problem } from '../../../problems/problems.ts'
import { findRole, listRoles, type Role as StoredRole } from '../../accounts/roles/store.ts'
import type { AuthParts } from '../../login.ts'
import { managing } from './requests.ts'
import {
  AddRoleCommand,
  PaginatedListOfPermission,
  PaginatedListOfRole,
  Role,
  SetRolePermissionsCommand,
} from './schemas.ts'

const parameters = {
  name: {
    description: 'Name of the role; case matters.',
    schema: { type: 'string' },
    example: 'Auditor',
  },
}

const allPermissions = permissions.map((name) => ({ name, services: !permissionsOfPeople.includes(name) }))

export const roleRoutes: Routes<AuthParts> = {
  listRoles: list('/v1/roles', {
    summary: 'List roles',
    description: 'Ordered by name.',
    access: managing,
    page: PaginatedListOfRole,
    find: async ({ db }, page) => pageOf((await listRoles(db.read)).map(toResponse), page),
  }),
  addRole: addition('/v1/roles', {
    summary: 'Add a role',
    description: 'An account that gets the role has its permissions from the next sign-in or refresh on.',
    access: managing,
    problems: ['name-taken'],
    body: AddRoleCommand,
    answer: Role,
    add: async ({ db }, { name, ...values }, stamp) => {
      await db.write('addRole', { ...values, role: name, stamp })
      return { name, answer: { name, permissions: values.permissions.toSorted(), accounts: 0 } }
    },
  }),
  getRole: read('/v1/roles/:name', {
    summary: 'Read a role',
    description:
      'Send the entity tag as If-Match with a change. Giving the role to an account does not change the tag.',
    access: managing,
    problems: ['role-not-found'],
    parameters,
    answer: Role,
    find: async ({ db }, request) => {
      const role = await findRole(db.read, nameOf(request))
      if (role === undefined) throw new Problem('role-not-found')
      return { version: role.version, answer: toResponse(role) }
    },
  }),
  setRolePermissions: change('PUT /v1/roles/:name', {
    summary: 'Replace the permissions of a role',
    description:
      'Takes effect on every instance within five minutes, and ends no session or token. The last account that can manage accounts keeps that permission.',
    access: managing,
    problems: ['role-not-found', 'last-administrator'],
    parameters,
    body: SetRolePermissionsCommand,
    canStrand: true,
    change: ({ change }, body, how, request) =>
      change('setRolePermissions', { role: nameOf(request), ...body, ...how }),
  }),
  removeRole: ending('/v1/roles/:name', {
    summary: 'Remove a role that no account has and no order needs',
    description:
      'Take it from its accounts first: losing a role is a decision about each account. Neither the approval policy nor a pending order may ask for it.',
    access: managing,
    problems: ['role-not-found', 'role-held'],
    parameters,
    end: ({ db }, request, stamp) => db.write('removeRole', { role: nameOf(request), stamp }),
  }),
  listPermissions: list('/v1/permissions', {
    summary: 'List the permissions',
    description: 'Everything that a role can hold. Later versions will add more.',
    access: managing,
    page: PaginatedListOfPermission,
    find: async (_parts, page) => pageOf(allPermissions, page),
  }),
}

function nameOf({ params }: FastifyRequest): string {
  return (params as { name: string }).name
}

function toResponse({ role, permissions: held, accounts }: StoredRole) {
  return { name: role, permissions: held, accounts }
}
