import type { FastifyReply, FastifyRequest } from 'fastify'
import { type RawBuilder, type SqlBool, sql } from '#kysely'
import { sha256 } from '../ids.ts'
import { Problem } from '../problems/problems.ts'
import { header } from './route.ts'

/** For anything that has a version: clients ask each time, and get the body only if the version is new. */
export const cacheControl = 'private, no-cache'

export const etagHeader = header('ETag', 'Strong entity tag of this version.', { example: '"1"' })
export const ifMatchHeader = header(
  'If-Match',
  'The version to change, or `*` for any. A tag that a proxy weakened still counts.',
  { example: '"1"' },
)
export const ifNoneMatchHeader = header(
  'If-None-Match',
  'Entity tags that the caller has. If one matches, the answer is 304 without a body.',
  { example: '"1"' },
)

/** A strong entity tag that holds the row version (RFC 9110 §8.8.3). */
export function versionTag(version: number): string {
  return `"${version}"`
}

const tag = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"'
const tagList = new RegExp(`^(?:[, \\t]|${tag})*$`)

/** `*`, or the tags in quotes and without `W/`: none if the field is malformed (RFC 9110 §13.1). */
function parseTags(field: string): '*' | string[] {
  if (field.trim() === '*') return '*'
  return (tagList.test(field) && field.match(/"[^"]*"/g)) || []
}

/** Weak comparison with a strong tag. A malformed field never matches. */
export function matchesNone(ifNoneMatch: string | undefined, currentTag: string): boolean {
  if (ifNoneMatch === undefined) return true
  const tags = parseTags(ifNoneMatch)
  return tags !== '*' && !tags.includes(currentTag)
}

/** The row versions that an If-Match accepts; null for any. */
export type AcceptedVersions = number[] | null

/**
 * Without the header, or with `*`, any version is accepted. Unlike in RFC 9110 §13.1.1 a weak tag counts as
 * strong: proxies that compress weaken tags, and a row version is exact in every form. A malformed field, or
 * one with only foreign tags, accepts no version, so that no write passes by mistake.
 */
export function acceptedVersions(ifMatch: string | undefined): AcceptedVersions {
  if (ifMatch === undefined) return null
  const tags = parseTags(ifMatch)
  if (tags === '*') return null
  return tags.flatMap((tag) => {
    const digits = /^"([1-9]\d{0,9})"$/.exec(tag)?.[1]
    const version = Number(digits)
    return digits === undefined || version > 2_147_483_647 ? [] : [version]
  })
}

/** For writes that replace something, which need the header. Throws `precondition-required`. */
export function requiredVersions(ifMatch: string | undefined): AcceptedVersions {
  if (ifMatch === undefined) throw new Problem('precondition-required')
  return acceptedVersions(ifMatch)
}

/** Holds for a row of an accepted version. */
export function hasVersion(accepted: AcceptedVersions): RawBuilder<SqlBool> {
  if (accepted === null) return sql`true`
  return accepted.length === 0 ? sql`false` : sql`version in (${sql.join(accepted)})`
}

/** Throws `precondition-failed` if the version is not an accepted one. */
export function requireVersion(accepted: AcceptedVersions, version: number): void {
  if (accepted === null || accepted.includes(version)) return
  throw new Problem('precondition-failed', { headers: { etag: versionTag(version) } })
}

/** Answers with the current version, or with 304 if the caller has it already. */
export function sendVersion<Body>(
  request: FastifyRequest,
  reply: FastifyReply,
  version: number,
  body: Body,
): Body | FastifyReply {
  const etag = versionTag(version)
  reply.header('etag', etag).header('cache-control', cacheControl)
  return matchesNone(request.headers['if-none-match'], etag) ? body : reply.code(304).send(undefined)
}

/** Hook of a route whose answer has no version: its entity tag is a hash of what would be sent. */
export async function revalidate(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  if (reply.statusCode !== 200) return payload
  reply.header('cache-control', cacheControl)
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
  const etag = `"${sha256(payload)}"`
  reply.header('etag', etag)
  if (matchesNone(request.headers['if-none-match'], etag)) return payload
  reply.code(304).removeHeader('content-type').removeHeader('content-length')
  return null
}
