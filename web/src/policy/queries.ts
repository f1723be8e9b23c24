import { queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { tellOtherTabs } from '../auth/other-tabs.ts'
import { viewerTimeZone } from '../ui/format.ts'

export interface PolicyRow {
  /** The row applies from this total on. */
  from: number
  approvals: number
  selfApproval: boolean
  services: boolean
}

/** The policy and its version. */
export interface Policy {
  rows: PolicyRow[]
  etag: string
}

const policyKey = ['policy']

export const policyQuery = queryOptions({
  queryKey: policyKey,
  queryFn: async ({ signal }): Promise<Policy> => {
    const { data, response } = await client.GET('/v1/approval-policy', { signal })
    return { rows: data.rows, etag: response.headers.get('etag') ?? '' }
  },
})

/** Totals are decimal texts, sent unchanged. */
export type WireRow = Omit<PolicyRow, 'from'> & { from: string }

export interface Replacement {
  rows: WireRow[]
  /** The version that the person saw. */
  etag: string
  /** The same for every try of a change. */
  idempotencyKey: string
}

/**
 * Replaces the policy that the person saw, and returns the new one. Throws `ProblemError`
 * (`precondition-failed` when someone else was first) or `NoAnswerError`; may be called again with the same
 * input.
 */
export async function replacePolicy({ rows, etag, idempotencyKey }: Replacement): Promise<Policy> {
  const header = { 'If-Match': etag, 'Idempotency-Key': idempotencyKey, 'Time-Zone': viewerTimeZone }
  const { response } = await client.PUT('/v1/approval-policy', { params: { header }, body: { rows } })
  tellOtherTabs({ kind: 'changed' })
  const saved = rows.map((row) => ({ ...row, from: Number(row.from) }))
  return { rows: saved, etag: response.headers.get('etag') ?? '' }
}

/** Resolves when the screen shows the current policy. */
export async function policyChanged(): Promise<void> {
  await queries.invalidateQueries({ queryKey: policyKey })
}

/** The totals of one row of the policy: `from` up to, but not including, `below`. */
export interface Range {
  from: string
  below: string | undefined
}

/** How many orders created since the day have a total in the range. */
export function countQuery({ from, below }: Range, since: string) {
  const end = below === undefined ? '' : ` AND total<${below}`
  const filter = `createdAtUtc>=${since} AND total>=${from}${end}`
  return queryOptions({
    queryKey: ['orders', 'in-range', filter],
    queryFn: async ({ signal }) => {
      const query = { filter, pageSize: 1 }
      const { totalCount } = await answerOf(client.GET('/v1/orders', { params: { query }, signal }))
      return totalCount ?? 0
    },
  })
}
