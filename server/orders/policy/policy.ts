/** The approval policy: one version at a time, which is stamped onto each order when it is created. */
import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from '#kysely'
import { recordEvent, type Stamp } from '../../audit/audit.ts'
import type { Database } from '../../db/tables.ts'
import { type IdempotencyInput, type Once, once } from '../../http/idempotency.ts'
import { requireVersion, versionTag } from '../../http/preconditions.ts'
import { Problem } from '../../http/problems.ts'
import { decimalOf } from '../order.ts'
import { findPolicy, type PolicyRow, putPolicy, takePolicy } from './store.ts'

export interface PolicyInput {
  /** Ascending; the first from 0. */
  rows: PolicyRow[]
  /** Versions that If-Match accepts; null for any. */
  acceptedVersions: number[] | null
  stamp: Stamp
  idempotency: IdempotencyInput | null
}

/**
 * Replaces all rows by one conditional write: if several come at once, one succeeds. Existing orders keep
 * what was stamped onto them. The same rows change neither the version nor the log. Throws
 * `precondition-failed`, `concurrency-conflict`.
 */
export function setApprovalPolicy(
  trx: Transaction<Database>,
  { rows, acceptedVersions, stamp, idempotency }: PolicyInput,
): Promise<Once<{ version: number; changed: boolean }>> {
  return once(trx, idempotency, async () => {
    const taken = await takePolicy(trx, acceptedVersions)
    if (taken === undefined) {
      const { version } = await findPolicy(trx)
      requireVersion(acceptedVersions, version)
      throw new Problem('concurrency-conflict', { headers: { etag: versionTag(version) } })
    }
    const changed = !isDeepStrictEqual(taken.rows, rows)
    const version = changed ? taken.version + 1 : taken.version
    await putPolicy(trx, { version, rows })
    if (changed) {
      const data = { rows: rows.map((row) => ({ ...row, from: decimalOf(row.from) })) }
      await recordEvent(trx, stamp, {
        kind: 'policy-set',
        subject: { kind: 'policy', id: 'approval' },
        version,
        data,
      })
    }
    return { version, changed }
  })
}
