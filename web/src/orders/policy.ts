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

/** Such as "two approvals, from people other than the creator, each signed with a passkey". */
export function ruleInWords({
  approvals,
  selfApproval,
  services,
  role,
  passkey,
}: Omit<PolicyRow, 'from'>): string {
  const isOne = approvals === 1
  const people = services && !passkey ? 'anyone' : 'people'
  const who = services && !passkey ? 'Anyone' : 'Any person'
  return [
    `${numbers[approvals] ?? approvals} ${isOne ? 'approval' : 'approvals'}`,
    selfApproval ? '' : `, from ${people} other than the creator`,
    role === null ? '' : `, ${isOne ? '' : 'at least one '}by someone with the role ${role}`,
    passkey ? `, ${isOne ? '' : 'each '}signed with a passkey` : '',
    selfApproval ? `. ${who} who may approve can give ${isOne ? 'it' : 'one'}, also the creator` : '',
  ].join('')
}

/** The row that applies to a total. The only row also applies to a total that is not known yet. */
export function rowFor(rows: readonly PolicyRow[], total: string | undefined): PolicyRow | undefined {
  if (total === undefined) return rows.length === 1 ? rows[0] : undefined
  return rows.findLast(({ from }) => from <= Number(total))
}
