export interface PolicyRow {
  /** The row applies from this total on. */
  from: number
  approvals: number
  selfApproval: boolean
  services: boolean
  /** A role that one of the approvers must hold. */
  role: string | null
  /** Whether each approval must be signed with a passkey, which services cannot do. */
  passkey: boolean
}

const numbers = ['no', 'one', 'two', 'three', 'four', 'five']

/** Such as "two approvals, from people other than the creator". */
export function ruleInWords({ role, passkey, ...rule }: Omit<PolicyRow, 'from'>): string {
  const isOne = rule.approvals === 1
  return [
    giversInWords({ ...rule, services: rule.services && !passkey }),
    ...(role === null ? [] : [`${isOne ? 'the' : 'one'} approver must have the role ${role}`]),
    ...(passkey ? [isOne ? 'signed with a passkey' : 'each signed with a passkey'] : []),
  ].join('; ')
}

type Givers = Pick<PolicyRow, 'approvals' | 'selfApproval' | 'services'>

function giversInWords({ approvals, selfApproval, services }: Givers): string {
  const count = `${numbers[approvals] ?? approvals} ${approvals === 1 ? 'approval' : 'approvals'}`
  if (selfApproval && services) return `${count}; the creator and services may approve`
  if (selfApproval) return `${count}, from people only; the creator may approve`
  return `${count}, from ${services ? 'anyone' : 'people'} other than the creator`
}

/** The row that applies to a total. The only row also applies to a total that is not known yet. */
export function rowFor(rows: readonly PolicyRow[], total: string | undefined): PolicyRow | undefined {
  if (total === undefined) return rows.length === 1 ? rows[0] : undefined
  return rows.findLast(({ from }) => from <= Number(total))
}
