/** The verbs of a thing that somebody administers: how a route of each asks, answers and refuses. */
import type { FastifyRequest } from 'fastify'
import type { Access } from '../caller/permissions.ts'
import { type Stamp, stampOf } from '../caller/stamp.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import { type AppDatabase, pageLimitMilliseconds, type QueryOptions } from '../db/port.ts'
import { parseUuid } from '../ids.ts'
import type { ProblemCode } from '../problems/catalogue.ts'
import { Problem } from '../problems/problems.ts'
import { noContent, type Parsed, queryOf } from './fields.ts'
import {
  describePage,
  linkHeader,
  type PageRequest,
  pageLinks,
  pageNumberField,
  pageRequest,
  pageSizeField,
} from './paging.ts'
import {
  acceptedVersions,
  cacheControl,
  etagHeader,
  ifMatchHeader,
  ifNoneMatchHeader,
  revalidate,
  sendVersion,
  versionTag,
} from './preconditions.ts'
import { callerOf, locationHeader, route } from './route.ts'
import type { Schema, Static } from './schema.ts'
import { strandedHeader, tellStranded } from './stranded.ts'
import { beginningField } from './text.ts'

interface StampParts {
  db: AppDatabase
  config: Pick<Config, 'defaultTimeZone'>
  clock: Clock
}

/** Who changes something, when, and in which zone. */
export function readStamp(request: FastifyRequest, { config, clock }: Omit<StampParts, 'db'>) {
  const caller = callerOf(request)
  return stampOf(caller, clock(), caller.timeZone ?? config.defaultTimeZone)
}

/** For answers with a secret. */
export const shownOnce = { 'cache-control': 'no-store' }

/** The UUID in the path. Throws `unknown` if it is malformed. */
export function requireUuid(request: FastifyRequest, unknown: ProblemCode, name = 'id'): string {
  const id = parseUuid((request.params as Record<string, string>)[name] ?? '')
  if (id === undefined) throw new Problem(unknown)
  return id
}

interface Operation {
  summary: string
  description: string
  access: Access
  problems?: readonly ProblemCode[]
  parameters?: Record<string, Record<string, unknown>>
}

export const PagesQuery = queryOf({ pageNumber: pageNumberField, pageSize: pageSizeField })

type Found<Page> = Promise<{
  items: Static<Page> extends { items: infer Items } ? Items : never
  totalCount: number
}>

interface List<Parts, Page extends Schema> extends Operation {
  page: Page
  querystring?: typeof PagesQuery
  /** Answers with a hash of the page as entity tag, or 304 if the caller has that page. */
  isTagged?: boolean
  find: (parts: Parts, page: PageRequest, request: FastifyRequest) => Found<Page>
}

export function list<Parts, Page extends Schema>(
  url: `/${string}`,
  { page, find, querystring = PagesQuery, isTagged = false, ...about }: List<Parts, Page>,
) {
  return route(`GET ${url}`, {
    ...about,
    ...(isTagged && { requestHeaders: [ifNoneMatchHeader], onSend: revalidate }),
    responseHeaders: { 200: isTagged ? [linkHeader, etagHeader] : [linkHeader] },
    querystring,
    response: { 200: page as Schema, ...(isTagged && { 304: noContent }) },
    handler: async (parts: Parts, request, reply) => {
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

interface SearchRequest {
  /** The beginning of a name; null for everything. */
  filter: string | null
  offset: number
  limit: number
}

interface Search<Parts, Page extends Schema> extends Operation {
  page: Page
  find: (parts: Parts, wanted: SearchRequest, options: QueryOptions) => Found<Page>
}

/** A list that can be searched. It may be long, so it is read away from the event loop. */
export function search<Parts, Page extends Schema>(
  url: `/${string}`,
  { find, ...about }: Search<Parts, Page>,
) {
  return list(url, {
    ...about,
    problems: ['overloaded', 'filter-too-expensive'],
    querystring: SearchQuery,
    find: (parts: Parts, { offset, pageSize: limit }, request) => {
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
export function pageOf<Item>(all: readonly Item[], { offset, pageSize }: PageRequest) {
  return { items: all.slice(offset, offset + pageSize), totalCount: all.length }
}

interface Read<Parts, Answer extends Schema> extends Operation {
  answer: Answer
  find: (parts: Parts, request: FastifyRequest) => Promise<{ version: number; answer: Static<Answer> }>
}

/** Answers with the version as entity tag, or 304 if the caller has that version. */
export function read<Parts, Answer extends Schema>(
  url: `/${string}`,
  { answer, find, ...about }: Read<Parts, Answer>,
) {
  return route(`GET ${url}`, {
    ...about,
    requestHeaders: [ifNoneMatchHeader],
    responseHeaders: { 200: [etagHeader] },
    response: { 200: answer as Schema, 304: noContent },
    handler: async (parts: Parts, request, reply) => {
      const found = await find(parts, request)
      return sendVersion(request, reply, found.version, found.answer)
    },
  })
}

interface Addition<Parts, Body, Answer extends Schema> extends Operation {
  body: Parsed<Body>
  answer: Answer
  /** The answer holds a secret. */
  isShownOnce?: boolean
  /** `name` is the last segment of the path to what was added. */
  add: (parts: Parts, body: Body, stamp: Stamp) => Promise<{ name: number | string; answer: Static<Answer> }>
}

/** Changes need a recent sign-in, this one and all below. */
export function addition<Parts extends StampParts, Body, Answer extends Schema>(
  url: `/${string}`,
  { body, answer, isShownOnce = false, add, ...about }: Addition<Parts, Body, Answer>,
) {
  return route(`POST ${url}`, {
    ...about,
    needsRecentSignIn: true,
    responseHeaders: { 201: [locationHeader, etagHeader] },
    body: body as Schema,
    response: { 201: answer as Schema },
    handler: async (parts: Parts, request, reply) => {
      const added = await add(parts, request.body as Body, readStamp(request, parts))
      reply.code(201).header('location', `${url}/${added.name}`).header('etag', versionTag(1))
      reply.headers(isShownOnce ? shownOnce : { 'cache-control': cacheControl })
      return added.answer
    },
  })
}

interface Change<Parts, Body> extends Operation {
  body: Parsed<Body>
  change: (
    parts: Parts,
    body: Body,
    how: { acceptedVersions: number[] | null; stamp: Stamp },
    request: FastifyRequest,
  ) => Promise<{ version: number }>
  /** It can take from someone the right to approve, so the answer says what waits for nobody then. */
  canStrand?: boolean
}

/** A change of the version that If-Match names, or of any version without that header. */
export function change<Parts extends StampParts, Body>(
  address: `${'PATCH' | 'PUT'} /${string}`,
  { body, change, canStrand, problems = [], ...about }: Change<Parts, Body>,
) {
  return route(address, {
    ...about,
    needsRecentSignIn: true,
    problems: ['precondition-failed', ...problems],
    requestHeaders: [ifMatchHeader],
    responseHeaders: { 204: canStrand ? [etagHeader, strandedHeader] : [etagHeader], 412: [etagHeader] },
    body: body as Schema,
    handler: async (parts: Parts, request, reply) => {
      const stamp = readStamp(request, parts)
      const how = { acceptedVersions: acceptedVersions(request.headers['if-match']), stamp }
      const { version } = await change(parts, request.body as Body, how, request)
      reply.header('etag', versionTag(version)).header('cache-control', cacheControl)
      if (canStrand) await tellStranded(parts, request, reply)
    },
  })
}

interface End<Parts> extends Operation {
  end: (parts: Parts, request: FastifyRequest, stamp: Stamp) => Promise<unknown>
  /** It can take from someone the right to approve, so the answer says what waits for nobody then. */
  canStrand?: boolean
}

export function ending<Parts extends StampParts>(
  url: `/${string}`,
  { end, canStrand, ...about }: End<Parts>,
) {
  return route(`DELETE ${url}`, {
    ...about,
    needsRecentSignIn: true,
    ...(canStrand && { responseHeaders: { 204: [strandedHeader] } }),
    handler: async (parts: Parts, request, reply) => {
      await end(parts, request, readStamp(request, parts))
      if (canStrand) await tellStranded(parts, request, reply)
    },
  })
}
