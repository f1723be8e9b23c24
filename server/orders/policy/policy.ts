/** The approval policy: one version at a time, which is stamped onto each order when it is created. */
import { isDeepStrictEqual } from 'node:util'
import { recordEvent } from '../../audit/audit.ts'
import type { Permission } from '../../caller/permissions.ts'
import type { Stamp } from '../../caller/stamp.ts'
import { requireStanding } from '../../caller/standing.ts'
import type { Trx } from '../../db/tables.ts'
import { type IdempotencyInput, type Once, once } from '../../http/idempotency.ts'
import { type AcceptedVersions, requireVersion, versionTag } from '../../http/preconditions.ts'
import { Problem } from '../../problems/problems.ts'
import { decimalOf } from '../order.ts'
import { completeRules, firstRules, ruleNames } from '../rules.ts'
import { findPolicy, type PolicyRow, putPolicy, requireRolesOf, type SentRow, takePolicy } from './store.ts'
import { type PolicyWarning, warningsOf } from './warnings.ts'

export const managing: Permission = 'Policy.Manage'

export interface PolicyInput {
  /** In ascending order. The first starts at 0. */
  rows: SentRow[]
  acceptedVersions: AcceptedVersions
  stamp: Stamp
  idempotency: IdempotencyInput | null
}

/**
 * Replaces all rows by one conditional write: if several come at once, one succeeds. Existing orders keep
 * what was stamped onto them. The same rows change neither the version nor the log. Throws
 * `precondition-failed`, `concurrency-conflict`, `validation-failed`, `unknown-role`.
 */
export function setApprovalPolicy(
  trx: Trx,
  { rows: sent, acceptedVersions, stamp, idempotency }: PolicyInput,
): Promise<Once<{ version: number; changed: boolean; warnings: PolicyWarning[] }>> {
  return once(trx, idempotency, async () => {
    await requireStanding(trx, stamp, managing)
    const taken = await takePolicy(trx, acceptedVersions)
    if (taken === undefined) {
      const { version } = await findPolicy(trx)
      requireVersion(acceptedVersions, version)
      throw new Problem('concurrency-conflict', { headers: { etag: versionTag(version) } })
    }
    const rows = completeRows(sent, taken.rows)
    await requireRolesOf(trx, rows)
    const changed = !isDeepStrictEqual(taken.rows, rows)
    const version = changed ? taken.version + 1 : taken.version
    await putPolicy(trx, { version, rows })
    if (changed) {
      const facts = { rows: rows.map((row) => ({ ...row, from: decimalOf(row.from) })) }
      await recordEvent(trx, stamp, {
        kind: 'policy-set',
        subject: { kind: 'policy', id: 'approval' },
        version,
        facts,
      })
    }
    return { version, changed, warnings: await warningsOf(trx, rows, stamp.nowMilliseconds) }
  })
}

/** Throws `validation-failed` if a row leaves out a rule that the policy has, as an older client does. */
function completeRows(rows: readonly SentRow[], before: readonly PolicyRow[]): PolicyRow[] {
  const used = ruleNames.filter((name) => before.some((row) => row[name] !== firstRules[name]))
  const errors = rows.flatMap((row, index) => {
    const missing = used.filter((name) => row[name] === undefined)
    return missing.map((name) => ({
      pointer: `#/rows/${index}/${name}`,
      code: 'required',
      detail: `${name} is required in every row, because the policy has one now.`,
    }))
  })
  const [first] = errors
  if (first !== undefined) throw new Problem('validation-failed', { detail: first.detail, errors })
  return rows.map((row) => ({ from: row.from, ...completeRules(row) }))
}
