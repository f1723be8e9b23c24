import type { FastifyRequest } from 'fastify'
import { numberOfDirection } from '../../http/paging.ts'
import {
  acceptedVersions,
  cacheControl,
  etagHeader,
  ifMatchHeader,
  versionTag,
} from '../../http/preconditions.ts'
import { list, pageOf, read, requireUuid } from '../../http/resource.ts'
import { callerOf, locationHeader, type Routes, route } from '../../http/route.ts'
import { idParameter, type OrderParts } from '../requests.ts'
import { PaginatedListOfView, PutViewCommand, ViewResponse } from './schemas.ts'
import { findViews, type View, type ViewKey } from './store.ts'
import { readView, type ViewInput, viewsLimit } from './views.ts'

const parameters = {
  id: {
    ...idParameter.id,
    description: 'Id of the view: a UUID that the client chooses, in upper or lower case.',
  },
}

/** Named lists of orders, each account's own (ADR 69). */
export const viewRoutes: Routes<OrderParts> = {
  listViews: list('/v1/views', {
    summary: 'List views',
    description: 'Your own, sorted by name.',
    access: 'Orders.Read',
    page: PaginatedListOfView,
    isTagged: true,
    find: async ({ db }, wanted, request) =>
      pageOf((await findViews(db.read, callerOf(request).id)).map(toResponse), wanted),
  }),
  getView: read('/v1/views/:id', {
    summary: 'Read a view',
    description: 'Send the entity tag as If-Match with a change.',
    access: 'Orders.Read',
    problems: ['view-not-found'],
    parameters,
    answer: ViewResponse,
    find: async ({ db }, request) => {
      const view = await readView(db.read, keyOf(request))
      return { version: view.version, answer: toResponse(view) }
    },
  }),
  putView: route('PUT /v1/views/:id', {
    summary: 'Create or replace a view',
    description: `An unknown id creates a view. You can have ${viewsLimit}. Repeating the request changes nothing.`,
    access: 'Orders.Read',
    problems: ['view-not-found', 'precondition-failed', 'view-name-taken', 'too-many-views'],
    parameters,
    requestHeaders: [ifMatchHeader],
    responseHeaders: {
      200: [etagHeader],
      201: [locationHeader, etagHeader],
      412: [etagHeader],
    },
    body: PutViewCommand,
    response: { 200: ViewResponse, 201: ViewResponse },
    handler: async ({ db }, request, reply) => {
      const put = await db.write('putView', {
        ...readChange(request),
        content: request.body,
        mustExist: request.headers['if-match'] !== undefined,
      })
      reply.header('etag', versionTag(put.view.version)).header('cache-control', cacheControl)
      if (put.isNew) reply.code(201).header('location', `/v1/views/${put.view.id}`)
      return toResponse(put.view)
    },
  }),
  deleteView: route('DELETE /v1/views/:id', {
    summary: 'Delete a view',
    description: 'It cannot be brought back.',
    access: 'Orders.Read',
    problems: ['view-not-found', 'precondition-failed'],
    parameters,
    requestHeaders: [ifMatchHeader],
    responseHeaders: { 412: [etagHeader] },
    handler: async ({ db }, request) => {
      await db.write('deleteView', readChange(request))
    },
  }),
}

/** Throws `view-not-found` if the id is not a UUID. */
function keyOf(request: FastifyRequest): ViewKey {
  return { ownerId: callerOf(request).id, id: requireUuid(request, 'view-not-found') }
}

function readChange(request: FastifyRequest): ViewInput {
  return { key: keyOf(request), acceptedVersions: acceptedVersions(request.headers['if-match']) }
}

function toResponse({ version: _, sort: { orderBy, order }, ...view }: View) {
  return { ...view, sort: { orderBy, order: numberOfDirection(order) } }
}
