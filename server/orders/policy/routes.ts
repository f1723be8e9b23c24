import { noContent } from '../../http/fields.ts'
import {
  announceReplay,
  idempotencyKeyHeader,
  idempotencyProblems,
  readIdempotency,
  replayedHeader,
} from '../../http/idempotency.ts'
import {
  cacheControl,
  etagHeader,
  ifMatchHeader,
  ifNoneMatchHeader,
  matchesNone,
  requiredVersions,
  versionTag,
} from '../../http/preconditions.ts'
import type { App } from '../../http/route.ts'
import { type OrderParts, readStamp, tags, timeZoneHeader } from '../requests.ts'
import { readApprovalPolicy } from './policy.ts'
import { ApprovalPolicy } from './schemas.ts'

const url = '/v1/approval-policy'

/** Who decides on orders (section 15 of the contract). */
export function registerApprovalPolicy(app: App, parts: OrderParts): void {
  registerRead(app, parts)
  registerReplace(app, parts)
}

function registerRead(app: App, { db }: OrderParts): void {
  app.route({
    method: 'GET',
    url,
    config: {
      access: 'Orders.Read',
      requestHeaders: [ifNoneMatchHeader],
      responseHeaders: { 200: [etagHeader] },
    },
    schema: {
      operationId: 'getApprovalPolicy',
      summary: 'Read the approval policy',
      description: 'The entity tag is for the If-Match of a change.',
      tags,
      response: { 200: ApprovalPolicy, 304: noContent },
    },
    handler: async (request, reply) => {
      const { version, rows } = await readApprovalPolicy(db.read)
      const etag = versionTag(version)
      reply.header('etag', etag).header('cache-control', cacheControl)
      if (!matchesNone(request.headers['if-none-match'], etag)) return reply.code(304).send(undefined)
      return { rows: rows.map((row) => ({ ...row, from: row.from / 10_000 })) }
    },
  })
}

function registerReplace(app: App, { config, db, clock }: OrderParts): void {
  app.route({
    method: 'PUT',
    url,
    config: {
      access: 'Policy.Manage',
      problems: [
        'concurrency-conflict',
        'precondition-failed',
        'precondition-required',
        ...idempotencyProblems,
      ],
      requestHeaders: [{ ...ifMatchHeader, required: true }, timeZoneHeader, idempotencyKeyHeader],
      responseHeaders: { 204: [etagHeader, replayedHeader], 409: [etagHeader], 412: [etagHeader] },
    },
    schema: {
      operationId: 'setApprovalPolicy',
      summary: 'Replace the approval policy',
      description:
        'All rows at once. It holds for the orders that are created from now on; pending ones keep what held when they were created. Of several changes of one version one succeeds.',
      tags,
      body: ApprovalPolicy,
      response: { 204: noContent },
    },
    handler: async (request, reply) => {
      const now = clock()
      const input = {
        rows: request.body.rows,
        stamp: readStamp(request, config, now),
        idempotency: readIdempotency(request, now),
        acceptedVersions: requiredVersions(request.headers['if-match']),
      }
      const replaced = await db.write('setApprovalPolicy', input)
      announceReplay(reply, replaced)
      reply.header('etag', versionTag(replaced.result.version)).header('cache-control', cacheControl)
      return reply.code(204).send()
    },
  })
}
