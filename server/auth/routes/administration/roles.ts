import type { FastifyReply, FastifyRequest } from 'fastify'
import { noContent } from '../../../http/fields.ts'
import { describePage, linkHeader, pageLinks, pageRequest } from '../../../http/paging.ts'
import {
  acceptedVersions,
  cacheControl,
  etagHeader,
  ifMatchHeader,
  ifNoneMatchHeader,
  versionTag,
} from '../../../http/preconditions.ts'
import { Problem } from '../../../http/problems.ts'
import { type App, locationHeader } from '../../../http/route.ts'
import { permissions, permissionsOfPeople } from '../../../permissions.ts'
import { findRole, listRoles, type Role as StoredRole } from '../../accounts/roles/store.ts'
import type { AuthParts } from '../../login.ts'
import { changing, readStamp, sendVersion, tags } from './requests.ts'
import {
  AddRoleCommand,
  PagesQuery,
  PaginatedListOfPermission,
  PaginatedListOfRole,
  Role,
  SetRolePermissionsCommand,
} from './role-schemas.ts'

const url = '/v1/roles/:name'
const parameters = {
  name: {
    description: 'Name of the role, as it is spelled.',
    schema: { type: 'string' },
    example: 'Auditor',
  },
}

export function registerRoles(app: App, parts: AuthParts): void {
  registerList(app, parts)
  registerAdd(app, parts)
  registerGet(app, parts)
  registerSet(app, parts)
  registerRemove(app, parts)
  registerPermissions(app)
}

function registerList(app: App, { db }: AuthParts): void {
  app.route({
    method: 'GET',
    url: '/v1/roles',
    config: { access: 'Accounts.Manage', responseHeaders: { 200: [linkHeader] } },
    schema: {
      operationId: 'listRoles',
      summary: 'List roles',
      description: 'By name.',
      tags,
      querystring: PagesQuery,
      response: { 200: PaginatedListOfRole },
    },
    handler: async (request, reply) => {
      const roles = await listRoles(db.read)
      return pageOf(roles.map(toResponse), '/v1/roles', request, reply)
    },
  })
}

/** The page asked for, of things that are few. */
function pageOf<Item>(
  all: Item[],
  path: string,
  request: FastifyRequest & { query: { pageNumber?: number | undefined; pageSize?: number | undefined } },
  reply: FastifyReply,
) {
  const page = pageRequest(request.query.pageNumber, request.query.pageSize)
  const description = describePage(all.length, page)
  reply.headers(pageLinks(path, request.raw.url, PagesQuery, description))
  return { items: all.slice(page.offset, page.offset + page.pageSize), ...description }
}

function registerAdd(app: App, parts: AuthParts): void {
  app.route({
    method: 'POST',
    url: '/v1/roles',
    config: {
      ...changing,
      problems: ['name-taken'],
      responseHeaders: { 201: [locationHeader, etagHeader] },
    },
    schema: {
      operationId: 'addRole',
      summary: 'Add a role',
      description: 'Whoever gets it has its permissions at the next sign-in or refresh.',
      tags,
      body: AddRoleCommand,
      response: { 201: Role },
    },
    handler: async (request, reply) => {
      const { name, permissions: wanted } = request.body
      const input = { role: name, permissions: wanted, stamp: readStamp(request, parts) }
      const { role } = await parts.db.write('addRole', input)
      reply.code(201).header('location', `/v1/roles/${role}`).header('etag', versionTag(1))
      reply.header('cache-control', cacheControl)
      return { name: role, permissions: wanted.toSorted(), accounts: 0 }
    },
  })
}

function registerGet(app: App, { db }: AuthParts): void {
  app.route({
    method: 'GET',
    url,
    config: {
      access: 'Accounts.Manage',
      problems: ['role-not-found'],
      parameters,
      requestHeaders: [ifNoneMatchHeader],
      responseHeaders: { 200: [etagHeader] },
    },
    schema: {
      operationId: 'getRole',
      summary: 'Read a role',
      description:
        'The entity tag is for the If-Match of a change. It does not change with who has the role.',
      tags,
      response: { 200: Role, 304: noContent },
    },
    handler: async (request, reply) => {
      const role = await findRole(db.read, nameOf(request))
      if (role === undefined) throw new Problem('role-not-found')
      return sendVersion(request, reply, role.version, toResponse(role))
    },
  })
}

function registerSet(app: App, parts: AuthParts): void {
  app.route({
    method: 'PUT',
    url,
    config: {
      ...changing,
      problems: ['role-not-found', 'precondition-failed', 'last-administrator'],
      parameters,
      requestHeaders: [ifMatchHeader],
      responseHeaders: { 204: [etagHeader], 412: [etagHeader] },
    },
    schema: {
      operationId: 'setRolePermissions',
      summary: 'Replace the permissions of a role',
      description:
        'It takes effect on every instance within five minutes, and ends no session or token. The last account that may manage accounts keeps that permission.',
      tags,
      body: SetRolePermissionsCommand,
      response: { 204: noContent },
    },
    handler: async (request, reply) => {
      const input = {
        role: nameOf(request),
        permissions: request.body.permissions,
        acceptedVersions: acceptedVersions(request.headers['if-match']),
        stamp: readStamp(request, parts),
      }
      const { version } = await parts.db.write('setRolePermissions', input)
      reply.header('etag', versionTag(version)).header('cache-control', cacheControl)
      return reply.code(204).send(undefined)
    },
  })
}

function registerRemove(app: App, parts: AuthParts): void {
  app.route({
    method: 'DELETE',
    url,
    config: { ...changing, problems: ['role-not-found', 'role-held'], parameters },
    schema: {
      operationId: 'removeRole',
      summary: 'Remove a role that no account has',
      description: 'Taking it from those who have it is a decision about each.',
      tags,
      response: { 204: noContent },
    },
    handler: async (request, reply) => {
      await parts.db.write('removeRole', { role: nameOf(request), stamp: readStamp(request, parts) })
      return reply.code(204).send(undefined)
    },
  })
}

function registerPermissions(app: App): void {
  const items = permissions.map((name) => ({ name, services: !permissionsOfPeople.includes(name) }))
  app.route({
    method: 'GET',
    url: '/v1/permissions',
    config: { access: 'Accounts.Manage', responseHeaders: { 200: [linkHeader] } },
    schema: {
      operationId: 'listPermissions',
      summary: 'List the permissions',
      description: 'What roles can hold. Later versions will have more.',
      tags,
      querystring: PagesQuery,
      response: { 200: PaginatedListOfPermission },
    },
    handler: async (request, reply) => pageOf(items, '/v1/permissions', request, reply),
  })
}

function nameOf({ params }: FastifyRequest): string {
  return (params as { name: string }).name
}

function toResponse({ role, permissions: held, accounts }: StoredRole) {
  return { name: role, permissions: held, accounts }
}
