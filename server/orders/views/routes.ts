import type { FastifyRequest } from 'fastify'
import { noContent } from '../../http/fields.ts'
import { describePage, numberOfDirection, pageLinks, pageRequest } from '../../http/paging.ts'
import {
  acceptedVersions,
  cacheControl,
  etagHeader,
  ifMatchHeader,
  sendVersion,
  versionTag,
} from '../../http/preconditions.ts'
import { callerOf, locationHeader, type Routes, route } from '../../http/route.ts'
import { parseUuid } from '../../ids.ts'
import { Problem } from '../../problems/problems.ts'
import { idParameter, type OrderParts, reading, readingPages, revalidate } from '../requests.ts'
import { ListViewsQuery, PaginatedListOfView, PutViewCommand, ViewResponse } from './schemas.ts'
import { findViews, type View, type ViewKey } from './store.ts'
import { readView, type ViewInput, viewsLimit } from './views.ts'

const parameters = {
  id: {
    ...idParameter.id,
    description: 'Id of the view: a UUID that the client chooses, in upper or lower case.',
  },
}

/** Named lists of orders, each account's own (ADR 36). */
export const viewRoutes: Routes<OrderParts> = {
  listViews: route('GET /v1/views', {
    summary: 'List views',
    description: 'Your own, sorted by name.',
    ...readingPages,
    querystring: ListViewsQuery,
    response: { 200: PaginatedListOfView, 304: noContent },
    onSend: revalidate,
    handler: async ({ db }, request, reply) => {
      const wanted = pageRequest(request.query.pageNumber, request.query.pageSize)
      const views = await findViews(db.read, callerOf(request).id)
      const page = describePage(views.length, wanted)
      reply.headers(pageLinks('/v1/views', request.raw.url, ListViewsQuery, page))
      const items = views.slice(wanted.offset, wanted.offset + wanted.pageSize)
      return { items: items.map(toResponse), ...page }
    },
  }),
  getView: route('GET /v1/views/:id', {
    summary: 'Read a view',
    description: 'Send the entity tag as If-Match with a change.',
    ...reading,
    problems: ['view-not-found'],
    parameters,
    response: { 200: ViewResponse, 304: noContent },
    handler: async ({ db }, request, reply) => {
      const view = await readView(db.read, keyOf(request))
      return sendVersion(request, reply, view.version, toResponse(view))
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
    response: { 204: noContent },
    handler: async ({ db }, request, reply) => {
      await db.write('deleteView', readChange(request))
      return reply.code(204).send()
    },
  }),
}

/** Throws `view-not-found` if the id is not a UUID. */
function keyOf(request: FastifyRequest): ViewKey {
  const id = parseUuid((request.params as { id: string }).id)
  if (id === undefined) throw new Problem('view-not-found', { detail: 'The id of a view is a UUID.' })
  return { ownerId: callerOf(request).id, id }
}

function readChange(request: FastifyRequest): ViewInput {
  return { key: keyOf(request), acceptedVersions: acceptedVersions(request.headers['if-match']) }
}

function toResponse({ version: _, sort: { orderBy, order }, ...view }: View) {
  return { ...view, sort: { orderBy, order: numberOfDirection(order) } }
}
