import type { FastifyReply, FastifyRequest } from 'fastify'
import { stampOf } from '../../../audit/audit.ts'
import { cacheControl, matchesNone, versionTag } from '../../../http/preconditions.ts'
import { Problem, type ProblemCode } from '../../../http/problems.ts'
import { callerOf } from '../../../http/route.ts'
import type { AuthParts } from '../../login.ts'

export const tags = ['Administration']

/** Of every change: a person with the permission, who has just given their password. */
export const changing = { access: 'Accounts.Manage', needsRecentSignIn: true } as const

export const idParameter = {
  id: {
    description: 'Id of the account. A malformed id is answered like an unknown one.',
    schema: { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
    example: 2,
  },
}

/** The id in the path. Throws the problem for what is none. */
export function requireId(request: FastifyRequest, unknown: ProblemCode): number {
  const { id } = request.params as { id: string }
  const number = /^[1-9]\d{0,9}$/.test(id) ? Number(id) : 0
  if (number < 1 || number > 2_147_483_647) throw new Problem(unknown)
  return number
}

/** Of what is shown once. */
export const shownOnce = { 'cache-control': 'no-store' }

export function readStamp(request: FastifyRequest, { config, clock }: AuthParts) {
  const caller = callerOf(request)
  return stampOf(caller, clock(), caller.timeZone ?? config.defaultTimeZone)
}

/** What there is one version of at a time: 304 for whoever has this one. */
export function sendVersion(
  request: FastifyRequest,
  reply: FastifyReply,
  version: number,
  body: unknown,
): FastifyReply {
  const etag = versionTag(version)
  reply.header('etag', etag).header('cache-control', cacheControl)
  const isOther = matchesNone(request.headers['if-none-match'], etag)
  return isOther ? reply.send(body) : reply.code(304).send(undefined)
}
