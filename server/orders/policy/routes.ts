import { noContent } from '../../http/fields.ts'
import { idempotencyProblems, replayedHeader } from '../../http/idempotency.ts'
import { etagHeader, ifMatchHeader, requiredVersions, sendVersion } from '../../http/preconditions.ts'
import type { App } from '../../http/route.ts'
import { changeHeaders, type OrderParts, readChange, reading, sendChanged, tags } from '../requests.ts'
import { ApprovalPolicy } from './schemas.ts'
import { findPolicy } from './store.ts'

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
    config: reading,
    schema: {
      operationId: 'getApprovalPolicy',
      summary: 'Read the approval policy',
      description: 'The entity tag is for the If-Match of a change.',
      tags,
      response: { 200: ApprovalPolicy, 304: noContent },
    },
    handler: async (request, reply) => {
      const { version, rows } = await findPolicy(db.read)
      const sent = rows.map((row) => ({ ...row, from: row.from / 10_000 }))
      return sendVersion(request, reply, version, { rows: sent })
    },
  })
}

function registerReplace(app: App, parts: OrderParts): void {
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
      requestHeaders: [{ ...ifMatchHeader, required: true }, ...changeHeaders],
      responseHeaders: { 204: [etagHeader, replayedHeader], 409: [etagHeader], 412: [etagHeader] },
    },
    schema: {
      operationId: 'setApprovalPolicy',
      summary: 'Replace the approval policy',
      description:
        'Replaces all rows. The new policy applies to orders created from now on; pending orders keep the rules of their creation. If several requests change one version, one succeeds.',
      tags,
      body: ApprovalPolicy,
      response: { 204: noContent },
    },
    handler: async (request, reply) => {
      const replaced = await parts.db.write('setApprovalPolicy', {
        ...readChange(request, parts),
        rows: request.body.rows,
        acceptedVersions: requiredVersions(request.headers['if-match']),
      })
      return sendChanged(reply, replaced)
    },
  })
}
