import type { FastifyReply, FastifyRequest } from 'fastify'
import { stampOf } from '../audit/stamp.ts'
import type { StatementKeys } from '../audit/statements.ts'
import { type Clock, parseTimeZone } from '../clock.ts'
import type { Config } from '../config.ts'
import type { AppDatabase } from '../db/port.ts'
import type { Exports } from '../http/export.ts'
import { matchesNone } from '../http/preconditions.ts'
import { Problem } from '../http/problems.ts'
import { callerOf, type HeaderDescription } from '../http/route.ts'
import { parseUuid, sha256 } from '../ids.ts'

export interface OrderParts {
  config: Config
  db: AppDatabase
  clock: Clock
  exports: Exports
  keys: StatementKeys
  publicUrl: () => string
}

/** What the routes of orders take from their requests, and say of them in the description. */
export const tags = ['Orders']

export const idParameter = {
  id: {
    description: 'Id of the order, in any case. A malformed id is answered like an unknown one.',
    schema: { type: 'string', format: 'uuid' },
    example: '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57',
  },
}
export const timeZoneHeader: HeaderDescription = {
  name: 'Time-Zone',
  description: 'IANA time zone of the audit stamp; else the user’s own, else the default of the service.',
  schema: { type: 'string', example: 'Europe/Berlin' },
}

/** The id in the path. Throws `order-not-found` for what is none. */
export function requireOrderId(request: FastifyRequest): string {
  const id = parseUuid((request.params as { id: string }).id)
  if (id === undefined) throw new Problem('order-not-found')
  return id
}

/** Hook of a route whose answer has no version of its own: it is tagged with a hash of what would be sent. */
export async function revalidate(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  if (reply.statusCode !== 200) return payload
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
  const etag = `"${sha256(payload)}"`
  reply.header('etag', etag)
  if (matchesNone(request.headers['if-none-match'], etag)) return payload
  reply.code(304).removeHeader('content-type').removeHeader('content-length')
  return null
}

/** Who asks, and when and where. Throws `invalid-time-zone`. */
export function readStamp(request: FastifyRequest, config: Config, nowMilliseconds: number) {
  return stampOf(callerOf(request), nowMilliseconds, auditZone(request, config))
}

/** The zone that the request names, else the user's own, else the default. */
function auditZone(request: FastifyRequest, config: Config): string {
  const given = request.headers['time-zone']
  if (given === undefined) return request.principal?.timeZone ?? config.defaultTimeZone
  const zone = typeof given === 'string' ? parseTimeZone(given) : undefined
  if (zone !== undefined) return zone
  const detail = 'Time-Zone must be an IANA name such as Europe/Berlin.'
  throw new Problem('invalid-time-zone', {
    detail,
    errors: [{ header: 'Time-Zone', code: 'unknown', detail }],
  })
}
