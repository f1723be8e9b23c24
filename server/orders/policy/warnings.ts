/** Rows of a policy that too few enabled accounts could satisfy now, or that depend on one account. */
import type { Db } from '../../db/tables.ts'
import { completeRules, type Rules, ruleNames } from '../rules.ts'
import { type Approver, countPendingByRules, findApprovers, type PolicyRow, type SentRow } from './store.ts'

export const warningCodes = ['nobody', 'role-unheld', 'too-few', 'only-one'] as const
type WarningCode = (typeof warningCodes)[number]

export interface PolicyWarning {
  /** Where the row begins, as on the wire. */
  from: number
  code: WarningCode
  detail: string
}

/** At most one for each row. */
export async function warningsOf(
  db: Db,
  rows: readonly PolicyRow[],
  nowMilliseconds: number,
): Promise<PolicyWarning[]> {
  const warnings = await Promise.all(rows.map((row) => warningOf(db, row, nowMilliseconds)))
  return warnings.filter((warning) => warning !== undefined)
}

async function warningOf(db: Db, row: PolicyRow, now: number): Promise<PolicyWarning | undefined> {
  const approvers = await findApprovers(db, { ...row, role: null }, now)
  const holders = row.role === null ? approvers : await findApprovers(db, row, now)
  const [code, detail] = faultOf(row, approvers, holders) ?? []
  return code && detail ? { from: row.from / 10_000, code, detail } : undefined
}

/** Both lists are complete, unless they have more accounts than any row needs. */
function faultOf(
  { approvals, selfApproval, services, role, passkey }: Rules,
  approvers: readonly Approver[],
  holders: readonly Approver[],
): [WarningCode, string] | undefined {
  const signers = passkey ? ' with a passkey' : ''
  const [one, several] =
    services && !passkey ? ['account', 'accounts'] : [`person${signers}`, `people${signers}`]
  const holding = role === null ? '' : ` with the role ${role}`
  if (approvers.length === 0) return ['nobody', `No enabled ${one} may approve orders.`]
  if (holders.length === 0) {
    return ['role-unheld', `No enabled ${one}${holding} may approve orders.`]
  }
  if (approvers.length < approvals) {
    const given = approvers.length === 1 ? `one ${one}` : `${approvers.length} ${several}`
    return ['too-few', `${approvals} approvals are needed, but only ${given} may approve orders.`]
  }
  const areExcluded = (accounts: readonly Approver[]) =>
    !selfApproval && accounts.some(({ creates }) => creates)
  if (approvals > 1 && approvers.length === approvals && areExcluded(approvers)) {
    const own = `gets only ${approvals - 1} of ${approvals} approvals`
    return ['too-few', `An order by one of the ${approvals} ${several} who may approve orders ${own}.`]
  }
  if (holders.length > 1) return undefined
  const own = areExcluded(holders) ? `, and nobody can approve the orders of that ${one}` : ''
  return ['only-one', `Only one ${one}${holding} may approve orders${own}.`]
}

/** A warning, and how many pending orders have the same rules. */
type CountedWarning = PolicyWarning & { pendingOrders: number }

export async function findPolicyWarnings(
  snapshot: Db,
  { rows: sent, nowMilliseconds }: { rows: readonly SentRow[]; nowMilliseconds: number },
): Promise<CountedWarning[]> {
  const keyOf = (rules: Rules) => JSON.stringify(ruleNames.map((name) => rules[name]))
  const pending = await countPendingByRules(snapshot)
  const counts = new Map(pending.map(({ rules, orders }) => [keyOf(rules), orders]))
  const counted: CountedWarning[] = []
  for (const sentRow of sent) {
    const row = { from: sentRow.from, ...completeRules(sentRow) }
    const warning = await warningOf(snapshot, row, nowMilliseconds)
    if (warning) counted.push({ ...warning, pendingOrders: counts.get(keyOf(row)) ?? 0 })
  }
  return counted
}
