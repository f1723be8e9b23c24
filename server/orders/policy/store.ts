import type { Kysely, Selectable, Transaction } from '#kysely'
import type { ApprovalPolicyTable, Database } from '../../db/tables.ts'
import { hasVersion } from '../../http/preconditions.ts'

export interface PolicyRow {
  /** Ten-thousandths. */
  from: number
  approvals: number
  selfApproval: boolean
  services: boolean
}

export interface Policy {
  version: number
  /** Ascending; the first from 0. */
  rows: PolicyRow[]
}

export async function findPolicy(db: Kysely<Database>): Promise<Policy> {
  const policy = toPolicy(await db.selectFrom('approval_policy').selectAll().execute())
  if (policy === undefined) throw new Error('there is no approval policy')
  return policy
}

/**
 * Removes the policy by one conditional DELETE. Undefined if nothing was deleted, because it has another
 * version or another write came first. A new order gets the old policy or the next, never none.
 */
export async function takePolicy(
  trx: Transaction<Database>,
  acceptedVersions: number[] | null,
): Promise<Policy | undefined> {
  const taken = await trx
    .deleteFrom('approval_policy')
    .where(hasVersion(acceptedVersions))
    .returningAll()
    .execute()
  return toPolicy(taken)
}

export async function putPolicy(trx: Transaction<Database>, { version, rows }: Policy): Promise<void> {
  const stored = rows.map(({ from, approvals, selfApproval, services }) => ({
    from_e4: from,
    approvals,
    self_approval: Number(selfApproval),
    services: Number(services),
    version,
  }))
  await trx.insertInto('approval_policy').values(stored).execute()
}

/** Undefined if there are no rows. */
function toPolicy(stored: Selectable<ApprovalPolicyTable>[]): Policy | undefined {
  const [first] = stored
  if (first === undefined) return undefined
  const rows = stored
    .toSorted((one, other) => one.from_e4 - other.from_e4)
    .map(({ from_e4: from, approvals, self_approval, services }) => ({
      from,
      approvals,
      selfApproval: self_approval === 1,
      services: services === 1,
    }))
  return { version: first.version, rows }
}
