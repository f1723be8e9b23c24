import type { PolicyRow } from '../orders/policy.ts'
import type { WireRow } from './queries.ts'

/** From this total on, the offered policy asks for a second person. */
export const secondPersonFrom = 1_000

/** Whether one person can create and approve any order. */
export function needsNobodyElse(rows: readonly PolicyRow[]): boolean {
  return rows.every(({ approvals, selfApproval }) => approvals === 1 && selfApproval)
}

/** The same policy, with two approvals by people other than the creator from `secondPersonFrom` on. */
export function withSecondPerson(rows: readonly PolicyRow[]): WireRow[] {
  const below = rows.filter(({ from }) => from < secondPersonFrom)
  const there = rows.filter(({ from }) => from > secondPersonFrom)
  const begins = rows.findLast(({ from }) => from <= secondPersonFrom)
  const strict = [...(begins ? [{ ...begins, from: secondPersonFrom }] : []), ...there].map((row) => ({
    ...row,
    approvals: 2,
    selfApproval: false,
    services: false,
  }))
  return [...below, ...strict].map((row) => ({ ...row, from: String(row.from) }))
}
