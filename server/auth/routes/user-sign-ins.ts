import type { FastifyRequest } from 'fastify'
import { noContent } from '../../http/fields.ts'
import { linkHeader } from '../../http/paging.ts'
import { Problem } from '../../http/problems.ts'
import type { App } from '../../http/route.ts'
import { findUser } from '../accounts/users/store.ts'
import type { AuthParts } from '../login.ts'
import { changing, idParameter, readStamp, requireId, tags } from './administration/requests.ts'
import { ListSignInsQuery, PaginatedListOfSignIn } from './schemas.ts'
import { pageOfSignIns, signInId } from './sign-ins.ts'

const url = '/v1/users/:id/sessions'

/** The sessions and token families of a user. */
export function registerUserSignIns(app: App, parts: AuthParts): void {
  registerList(app, parts)
  registerEnd(app, parts)
  registerEndAll(app, parts)
}

function registerList(app: App, parts: AuthParts): void {
  app.route({
    method: 'GET',
    url,
    config: {
      access: 'Accounts.Manage',
      problems: ['user-not-found'],
      parameters: idParameter,
      responseHeaders: { 200: [linkHeader] },
    },
    schema: {
      operationId: 'listUserSignIns',
      summary: 'Sessions and token families of a user',
      description: 'Those that still serve, the most recently used first.',
      tags,
      querystring: ListSignInsQuery,
      response: { 200: PaginatedListOfSignIn },
    },
    handler: async (request, reply) => {
      const id = await requireUserId(request, parts.db)
      return pageOfSignIns(parts, request, reply, `/v1/users/${id}/sessions`, id)
    },
  })
}

function registerEnd(app: App, parts: AuthParts): void {
  app.route({
    method: 'DELETE',
    url: `${url}/:session`,
    config: {
      ...changing,
      problems: ['user-not-found', 'sign-in-not-found'],
      parameters: { ...idParameter, session: signInId },
    },
    schema: {
      operationId: 'endUserSignIn',
      summary: 'End a session or a token family of a user',
      description: 'It ends at once; access tokens end within five minutes.',
      tags,
      response: { 204: noContent },
    },
    handler: async (request, reply) => {
      const principalId = await requireUserId(request, parts.db)
      const { session: id } = request.params as { session: string }
      await parts.db.write('endSignIn', { principalId, id, stamp: readStamp(request, parts) })
      return reply.code(204).send(undefined)
    },
  })
}

function registerEndAll(app: App, parts: AuthParts): void {
  app.route({
    method: 'DELETE',
    url,
    config: { ...changing, problems: ['user-not-found'], parameters: idParameter },
    schema: {
      operationId: 'signOutUser',
      summary: 'End all sessions and token families of a user',
      description:
        'At once; access tokens end within five minutes. Anyone who has the password can sign in again.',
      tags,
      response: { 204: noContent },
    },
    handler: async (request, reply) => {
      const account = { kind: 'user', id: requireId(request, 'user-not-found') } as const
      await parts.db.write('signOutUser', { account, stamp: readStamp(request, parts) })
      return reply.code(204).send(undefined)
    },
  })
}

/** The id in the path, if a user has it. */
async function requireUserId(request: FastifyRequest, { read }: AuthParts['db']): Promise<number> {
  const id = requireId(request, 'user-not-found')
  if ((await findUser(read, id)) === undefined) throw new Problem('user-not-found')
  return id
}
