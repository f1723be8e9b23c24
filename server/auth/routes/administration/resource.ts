import type { FastifyRequest } from 'fastify'
import type { Stamp } from '../../../audit/audit.ts'
import { noContent, type Parsed, queryOf } from '../../../http/fields.ts'
import {
  describePage,
  linkHeader,
  type PageRequest,
  pageLinks,
  pageNumberField,
  pageRequest,
  pageSizeField,
} from '../../../http/paging.ts'
import {
  acceptedVersions,
  cacheControl,
  etagHeader,
  ifMatchHeader,
  ifNoneMatchHeader,
  matchesNone,
  versionTag,
} from '../../../http/preconditions.ts'
import type { ProblemCode } from '../../../http/problems.ts'
import { type App, locationHeader } from '../../../http/route.ts'
import type { Schema, Static } from '../../../http/schema.ts'
import type { Access } from '../../../permissions.ts'
import type { AuthParts } from '../../login.ts'
import { changing, readStamp, tags } from './requests.ts'

/** What a route says about itself. Below are the routes that users, service clients and roles have alike. */
interface Operation {
  url: string
  operationId: string
  summary: string
  description: string
  problems?: readonly ProblemCode[]
  parameters?: Record<string, Record<string, unknown>>
}

function routeOf({ url, problems = [], parameters = {}, operationId, summary, description }: Operation) {
  return { url, config: { problems, parameters }, schema: { operationId, summary, description, tags } }
}

const PagesQuery = queryOf({ pageNumber: pageNumberField, pageSize: pageSizeField })

interface List<Page extends Schema> extends Operation {
  access?: Access
  tags?: readonly string[]
  response: Page
  find: (
    page: PageRequest,
    request: FastifyRequest,
  ) => Promise<{ items: Static<Page> extends { items: infer Items } ? Items : never; totalCount: number }>
}

/** A list by pages. */
export function registerList<Page extends Schema>(app: App, list: List<Page>): void {
  const { url, config, schema } = routeOf(list)
  const { access = 'Accounts.Manage', tags: listTags = tags, response } = list
  app.route({
    method: 'GET',
    url,
    config: { ...config, access, responseHeaders: { 200: [linkHeader] } },
    schema: { ...schema, tags: listTags, querystring: PagesQuery, response: { 200: response as Schema } },
    handler: async (request, reply) => {
      const page = pageRequest(request.query.pageNumber, request.query.pageSize)
      const { items, totalCount } = await list.find(page, request)
      const description = describePage(totalCount, page)
      reply.headers(pageLinks(pathOf(url, request), request.raw.url, PagesQuery, description))
      return { items, ...description }
    },
  })
}

function pathOf(url: string, { params }: FastifyRequest): string {
  return url.replace(/:(\w+)/, (_, name) => (params as Record<string, string>)[name] ?? '')
}

/** One page of a list that is read whole. */
export function pageOf<Item>(all: Item[], { offset, pageSize }: PageRequest) {
  return { items: all.slice(offset, offset + pageSize), totalCount: all.length }
}

interface Read<Answer extends Schema> extends Operation {
  response: Answer
  find: (request: FastifyRequest) => Promise<{ version: number; answer: Static<Answer> }>
}

/** Answers with the version as entity tag, or 304 if the caller has that version. */
export function registerRead<Answer extends Schema>(app: App, read: Read<Answer>): void {
  const { url, config, schema } = routeOf(read)
  app.route({
    method: 'GET',
    url,
    config: {
      ...config,
      access: 'Accounts.Manage',
      requestHeaders: [ifNoneMatchHeader],
      responseHeaders: { 200: [etagHeader] },
    },
    schema: { ...schema, response: { 200: read.response as Schema, 304: noContent } },
    handler: async (request, reply) => {
      const { version, answer } = await read.find(request)
      const etag = versionTag(version)
      reply.header('etag', etag).header('cache-control', cacheControl)
      const isNew = matchesNone(request.headers['if-none-match'], etag)
      return isNew ? answer : reply.code(304).send(undefined)
    },
  })
}

interface Add<Body, Answer extends Schema> extends Operation {
  body: Parsed<Body>
  response: Answer
  /** The answer holds a secret. */
  isShownOnce?: boolean
  /** `name` ends the path of what was added. */
  add: (body: Body, stamp: Stamp) => Promise<{ name: number | string; answer: Static<Answer> }>
}

export function registerAdd<Body, Answer extends Schema>(
  app: App,
  parts: AuthParts,
  addition: Add<Body, Answer>,
): void {
  const { url, config, schema } = routeOf(addition)
  const { body, response, isShownOnce = false } = addition
  app.route({
    method: 'POST',
    url,
    config: { ...config, ...changing, responseHeaders: { 201: [locationHeader, etagHeader] } },
    schema: { ...schema, body: body as Schema, response: { 201: response as Schema } },
    handler: async (request, reply) => {
      const { name, answer } = await addition.add(request.body as Body, readStamp(request, parts))
      reply.code(201).header('location', `${url}/${name}`).header('etag', versionTag(1))
      reply.header('cache-control', isShownOnce ? 'no-store' : cacheControl)
      return answer
    },
  })
}

interface Change<Body> extends Operation {
  method: 'PATCH' | 'PUT'
  body: Parsed<Body>
  change: (
    body: Body,
    how: { acceptedVersions: number[] | null; stamp: Stamp },
    request: FastifyRequest,
  ) => Promise<{ version: number }>
}

/** A change of the version that If-Match names, or of any. */
export function registerChange<Body>(app: App, parts: AuthParts, change: Change<Body>): void {
  const { url, config, schema } = routeOf(change)
  app.route({
    method: change.method,
    url,
    config: {
      ...config,
      ...changing,
      problems: ['precondition-failed', ...config.problems],
      requestHeaders: [ifMatchHeader],
      responseHeaders: { 204: [etagHeader], 412: [etagHeader] },
    },
    schema: { ...schema, body: change.body as Schema, response: { 204: noContent } },
    handler: async (request, reply) => {
      const stamp = readStamp(request, parts)
      const how = { acceptedVersions: acceptedVersions(request.headers['if-match']), stamp }
      const { version } = await change.change(request.body as Body, how, request)
      reply.header('etag', versionTag(version)).header('cache-control', cacheControl)
      return reply.code(204).send(undefined)
    },
  })
}

interface End extends Operation {
  end: (request: FastifyRequest, stamp: Stamp) => Promise<unknown>
}

export function registerEnd(app: App, parts: AuthParts, ending: End): void {
  const { url, config, schema } = routeOf(ending)
  app.route({
    method: 'DELETE',
    url,
    config: { ...config, ...changing },
    schema: { ...schema, response: { 204: noContent } },
    handler: async (request, reply) => {
      await ending.end(request, readStamp(request, parts))
      return reply.code(204).send(undefined)
    },
  })
}
