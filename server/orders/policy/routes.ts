import { pageLimitMilliseconds } from '../../db/port.ts'
import { idempotencyProblems, replayedHeader } from '../../http/idempotency.ts'
import { etagHeader, ifMatchHeader, requiredVersions } from '../../http/preconditions.ts'
import { read } from '../../http/resource.ts'
import { callerOf, type Routes, route } from '../../http/route.ts'
import { strandedHeader, tellStranded } from '../../http/stranded.ts'
import { announceChange, changeHeaders, type OrderParts, readChange } from '../requests.ts'
import { managing } from './policy.ts'
import { ApprovalPolicy, PolicyWarnings, SetApprovalPolicyResponse } from './schemas.ts'
import { findPolicy } from './store.ts'

/** The policy on who may approve orders (section 15 of the contract). */
export const policyRoutes: Routes<OrderParts> = {
  getApprovalPolicy: read('/v1/approval-policy', {
    summary: 'Read the approval policy',
    description: 'Send the entity tag as If-Match with a change.',
    access: 'Orders.Read',
    answer: ApprovalPolicy,
    find: async ({ db }) => {
      const { version, rows } = await findPolicy(db.read)
      return { version, answer: { rows: rows.map((row) => ({ ...row, from: row.from / 10_000 })) } }
    },
  }),
  setApprovalPolicy: route('PUT /v1/approval-policy', {
    summary: 'Replace the approval policy',
    description:
      'Replaces all rows. The new policy applies to orders created from now on; pending orders keep the rules of their creation. If several requests change one version, one succeeds. Rows that too few enabled accounts could satisfy now are accepted, with a warning.',
    access: managing,
    needsRecentSignIn: true,
    problems: [
      'concurrency-conflict',
      'precondition-failed',
      'precondition-required',
      'unknown-role',
      ...idempotencyProblems,
    ],
    requestHeaders: [{ ...ifMatchHeader, required: true }, ...changeHeaders],
    responseHeaders: {
      200: [etagHeader, replayedHeader, strandedHeader],
      409: [etagHeader],
      412: [etagHeader],
    },
    body: ApprovalPolicy,
    response: { 200: SetApprovalPolicyResponse },
    handler: async (parts, request, reply) => {
      const replaced = await parts.db.write('setApprovalPolicy', {
        ...request.body,
        ...readChange(request, parts),
        acceptedVersions: requiredVersions(request.headers['if-match']),
      })
      announceChange(reply, replaced)
      await tellStranded(parts, request, reply)
      return { warnings: replaced.result.warnings }
    },
  }),
  checkApprovalPolicy: route('POST /v1/approval-policy/check', {
    summary: 'Check an approval policy without setting it',
    description:
      'Answers with the warnings that setting it would return, and how many pending orders each concerns.',
    access: managing,
    problems: ['overloaded', 'filter-too-expensive'],
    body: ApprovalPolicy,
    response: { 200: PolicyWarnings },
    handler: async ({ db, clock }, request) => {
      const input = { ...request.body, nowMilliseconds: clock() }
      const options = { limitMilliseconds: pageLimitMilliseconds, caller: String(callerOf(request).id) }
      return { warnings: await db.query('findPolicyWarnings', input, options) }
    },
  }),
}
