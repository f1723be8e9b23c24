/** The rules of approval once more, in plain TypeScript: what SQL decides is compared with it. */

/** An account, as it is at the moment of the question. */
export interface Asked {
  id: number
  isService: boolean
  isEnabled: boolean
  /** Whether a role of the account has the permission to approve. */
  mayApprove: boolean
  /** Whether the credential has it too. It may be older than the roles of the account. */
  isPermitted: boolean
  roles: readonly string[]
  hasPasskey: boolean
  /** The account of the deputy, during an absence. */
  deputy?: number | undefined
  /** The owner of a service. */
  owner?: number | undefined
}

export interface AskedOrder {
  isPending: boolean
  approvalsNeeded: number
  selfApproval: boolean
  serviceApproval: boolean
  roleNeeded: string | null
  isRoleHeld: boolean
  isPasskeyNeeded: boolean
  /** The creator, and the owner of a service that created it. */
  creators: readonly (number | null | undefined)[]
  /** Each with the account in whose right it was given. */
  approvals: readonly { by: number; right: number }[]
}

/** In whose right the caller may approve the order: first their own, then that of absent people, by id. */
export function rightToApprove(
  accounts: readonly Asked[],
  caller: Asked,
  order: AskedOrder,
): number | undefined {
  const absent = accounts.filter(
    ({ id, isService, isEnabled, mayApprove, deputy }) =>
      !caller.isService && !isService && id !== caller.id && deputy === caller.id && isEnabled && mayApprove,
  )
  const own = caller.isPermitted && caller.mayApprove ? [caller] : []
  const rights = [...own, ...absent.toSorted((one, other) => one.id - other.id)]
  return rights.find((right) => suffices(caller, right, order))?.id
}

function suffices(caller: Asked, right: Asked, order: AskedOrder): boolean {
  const both = [caller.id, right.id, caller.owner]
  const isOne = (id: number | null | undefined) => id !== undefined && id !== null && both.includes(id)
  const isLast = order.approvals.length + 1 >= order.approvalsNeeded
  const { roleNeeded } = order
  return (
    order.isPending &&
    (!caller.isService || order.serviceApproval) &&
    (order.selfApproval || !order.creators.some(isOne)) &&
    !order.approvals.some(({ by, right: of }) =>
      [caller.id, right.id].some((id) => id === by || id === of),
    ) &&
    (roleNeeded === null || order.isRoleHeld || !isLast || right.roles.includes(roleNeeded)) &&
    (!order.isPasskeyNeeded || (!caller.isService && caller.hasPasskey))
  )
}
