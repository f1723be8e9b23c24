import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../client/src/schema.ts'
import { answerOf, client } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { tellOtherTabs } from '../auth/other-tabs.ts'
import type { PolicyRow } from '../orders/policy.ts'
import { type Policy, policyQuery } from '../orders/queries.ts'
import { announce } from '../ui/announce.ts'
import { isOutdated } from '../ui/describe.ts'
import { sendingOf, type UserId } from '../ui/draft.ts'
import { timeZoneHeader } from '../ui/format.ts'

/** Totals are decimal texts, sent unchanged. */
export type WireRow = Omit<PolicyRow, 'from'> & { from: string }

/** Rows that too few people could satisfy now, saved or not. */
export const warningsQuery = (rows: readonly WireRow[]) =>
  queryOptions({
    queryKey: ['policy', 'warnings', rows],
    queryFn: ({ signal }) =>
      answerOf(client.POST('/v1/approval-policy/check', { body: { rows: [...rows] }, signal })),
    select: ({ warnings }) => warnings,
  })
export type PolicyWarning = components['schemas']['PolicyWarnings']['warnings'][number]

/**
 * Replaces the version of the policy that the person saw, and returns the new one. On a conflict the current
 * policy is fetched before it is shown. May be called again with the same input.
 */
export async function savePolicy(userId: UserId, rows: WireRow[], etag: string): Promise<Policy> {
  const { idempotencyKey } = sendingOf('policy', userId, [rows, etag])
  const header = { 'If-Match': etag, 'Idempotency-Key': idempotencyKey, ...timeZoneHeader }
  try {
    const { response } = await client.PUT('/v1/approval-policy', { params: { header }, body: { rows } })
    tellOtherTabs({ kind: 'changed' })
    const saved = rows.map((row) => ({ ...row, from: Number(row.from) }))
    return { rows: saved, etag: response.headers.get('etag') ?? '' }
  } catch (failure) {
    if (isOutdated(failure)) await queries.invalidateQueries(policyQuery)
    throw failure
  }
}

/** Takes over the policy that the service has just saved for this person. */
export function acceptPolicy(saved: Policy): void {
  queries.setQueryData(policyQuery.queryKey, saved)
  void queries.invalidateQueries({ queryKey: ['policy', 'warnings'] })
  announce('Approval policy saved')
}
