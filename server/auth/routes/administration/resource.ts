import type { FastifyRequest } from 'fastify'
import type { Access } from '../../../caller/permissions.ts'
import type { Stamp } from '../../../caller/stamp.ts'
import { pageLimitMilliseconds, type QueryOptions } from '../../../db/port.ts'
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
  sendVersion,
  versionTag,
} from '../../../http/preconditions.ts'
import { callerOf, locationHeader, route } from '../../../http/route.ts'
import type { Schema, Static } from '../../../http/schema.ts'
import type { ProblemCode } from '../../../problems/catalogue.ts'
import type { AccountsRequest } from '../../accounts/query.ts'
import type { AuthParts } from '../../login.ts'
import { beginningField } from './fields.ts'
import { changing, readStamp } from './requests.ts'

/** What a route declares about itself. The routes below are the same for users, service clients and roles. */
interface Operation {
  summary: string
  description: string
  problems?: readonly ProblemCode[]
  parameters?: Record<string, Record<string, unknown>>
}

const PagesQuery = queryOf({ pageNumber: pageNumberField, pageSize: pageSizeField })

type Found<Page> = Promise<{
  items: Static<Page> extends { items: infer Items } ? Items : never
  totalCount: number
}>

interface List<Page extends Schema> extends Operation {
  access?: Access
  page: Page
  querystring?: typeof PagesQuery
  find: (parts: AuthParts, page: PageRequest, request: FastifyRequest) => Found<Page>
}

/** A list in pages. */
export function list<Page extends Schema>(
  url: `/${string}`,
  { page, find, querystring = PagesQuery, ...about }: List<Page>,
) {
  return route(`GET ${url}`, {
    access: 'Accounts.Manage',
    ...about,
    responseHeaders: { 200: [linkHeader] },
    querystring,
    response: { 200: page as Schema },
    handler: async (parts: AuthParts, request, reply) => {
      const wanted = pageRequest(request.query.pageNumber, request.query.pageSize)
      const { items, totalCount } = await find(parts, wanted, request)
      const description = describePage(totalCount, wanted)
      reply.headers(pageLinks(pathOf(url, request), request.raw.url, querystring, description))
      return { items, ...description }
    },
  })
}

const SearchQuery = queryOf({
  pageNumber: pageNumberField,
  pageSize: pageSizeField,
  filter: beginningField,
})

interface Search<Page extends Schema> extends Operation {
  page: Page
  find: (parts: AuthParts, wanted: AccountsRequest, options: QueryOptions) => Found<Page>
}

/** A list that can be searched. It may be long, so it is read away from the event loop. */
export function search<Page extends Schema>(url: `/${string}`, { find, ...about }: Search<Page>) {
  return list(url, {
    ...about,
    problems: ['overloaded', 'filter-too-expensive'],
    querystring: SearchQuery,
    find: (parts, { offset, pageSize: limit }, request) => {
      const { filter = null } = request.query as { filter?: string }
      const options = { limitMilliseconds: pageLimitMilliseconds, caller: String(callerOf(request).id) }
      return find(parts, { filter, offset, limit }, options)
    },
  })
}

function pathOf(url: string, { params }: FastifyRequest): string {
  return url.replace(/:(\w+)/, (_, name) => (params as Record<string, string>)[name] ?? '')
}

/** One page of a list that was read as a whole. */
export function pageOf<Item>(all: Item[], { offset, pageSize }: PageRequest) {
  return { items: all.slice(offset, offset + pageSize), totalCount: all.length }
}

interface Read<Answer extends Schema> extends Operation {
  answer: Answer
  find: (parts: AuthParts, request: FastifyRequest) => Promise<{ version: number; answer: Static<Answer> }>
}

/** Answers with the version as entity tag, or 304 if the caller has that version. */
export function read<Answer extends Schema>(url: `/${string}`, { answer, find, ...about }: Read<Answer>) {
  return route(`GET ${url}`, {
    ...about,
    access: 'Accounts.Manage',
    requestHeaders: [ifNoneMatchHeader],
    responseHeaders: { 200: [etagHeader] },
    response: { 200: answer as Schema, 304: noContent },
    handler: async (parts: AuthParts, request, reply) => {
      const found = await find(parts, request)
      return sendVersion(request, reply, found.version, found.answer)
    },
  })
}

interface Addition<Body, Answer extends Schema> extends Operation {
  body: Parsed<Body>
  answer: Answer
  /** The answer holds a secret. */
  isShownOnce?: boolean
  /** `name` is the last segment of the path to what was added. */
  add: (
    parts: AuthParts,
    body: Body,
    stamp: Stamp,
  ) => Promise<{ name: number | string; answer: Static<Answer> }>
}

export function addition<Body, Answer extends Schema>(
  url: `/${string}`,
  { body, answer, isShownOnce = false, add, ...about }: Addition<Body, Answer>,
) {
  return route(`POST ${url}`, {
    ...about,
    ...changing,
    responseHeaders: { 201: [locationHeader, etagHeader] },
    body: body as Schema,
    response: { 201: answer as Schema },
    handler: async (parts: AuthParts, request, reply) => {
      const added = await add(parts, request.body as Body, readStamp(request, parts))
      reply.code(201).header('location', `${url}/${added.name}`).header('etag', versionTag(1))
      reply.header('cache-control', isShownOnce ? 'no-store' : cacheControl)
      return added.answer
    },
  })
}

interface Change<Body> extends Operation {
  body: Parsed<Body>
  change: (
    parts: AuthParts,
    body: Body,
    how: { acceptedVersions: number[] | null; stamp: Stamp },
    request: FastifyRequest,
  ) => Promise<{ version: number }>
}

/** A change of the version that If-Match names, or of any version without that header. */
export function change<Body>(
  address: `${'PATCH' | 'PUT'} /${string}`,
  { body, change, problems = [], ...about }: Change<Body>,
) {
  return route(address, {
    ...about,
    ...changing,
    problems: ['precondition-failed', ...problems],
    requestHeaders: [ifMatchHeader],
    responseHeaders: { 204: [etagHeader], 412: [etagHeader] },
    body: body as Schema,
    response: { 204: noContent },
    handler: async (parts: AuthParts, request, reply) => {
      const stamp = readStamp(request, parts)
      const how = { acceptedVersions: acceptedVersions(request.headers['if-match']), stamp }
      const { version } = await change(parts, request.body as Body, how, request)
      reply.header('etag', versionTag(version)).header('cache-control', cacheControl)
      return reply.code(204).send(undefined)
    },
  })
}

interface End extends Operation {
  end: (parts: AuthParts, request: FastifyRequest, stamp: Stamp) => Promise<unknown>
}

export function ending(url: `/${string}`, { end, ...about }: End) {
  return route(`DELETE ${url}`, {
    ...about,
    ...changing,
    response: { 204: noContent },
    handler: async (parts: AuthParts, request, reply) => {
      await end(parts, request, readStamp(request, parts))
      return reply.code(204).send(undefined)
    },
  })
}
