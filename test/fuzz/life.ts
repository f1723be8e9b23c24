import type { OrderRow } from '../support/orders.ts'
import type { Account, Model, ModelEvent } from './model.ts'

interface Change {
  account: Account
  now: number
  zone: string | undefined
}

/** Status and code of the refusal that the account has to get; undefined if it may go on. */
export function refusalOf(
  model: Model,
  name: 'approve' | 'reject' | 'withdraw',
  order: OrderRow,
  account: Account,
): [status: number, code: string] | undefined {
  const isCreator = order.created_by_id === account.id
  if (name === 'withdraw' && !isCreator) return [403, 'not-the-creator']
  if (order.status !== 0) return [409, 'order-not-pending']
  if (name !== 'approve') return undefined
  if (account.kind === 'client' && order.service_approval === 0) return [403, 'service-approval']
  if (isCreator && order.self_approval === 0) return [403, 'self-approval']
  const approvers = approvalsOf(model, order.id).map(({ byId }) => byId)
  if (approvers.includes(account.id)) return [409, 'already-approved-by-you']
  const isLast = order.approvals_given + 1 === order.approvals_needed
  const isMissing = order.role_needed !== null && order.role_held === 0 && !holdsRole(account, order)
  if (isLast && isMissing) return [403, 'role-needed']
  // No account of the model has a passkey.
  return order.passkey_needed === 1 ? [403, 'passkey-needed'] : undefined
}

const holdsRole = ({ roles }: Account, order: OrderRow) => roles.some((role) => role === order.role_needed)

export function approvalsOf(model: Model, order: string): ModelEvent[] {
  return model.eventsOf(order).filter(({ kind }) => kind === 'approved' || kind === 'approval-given')
}

/** The columns that the present policy gives an order of this total. */
export function stampOfPolicy(model: Model, totalE4: number) {
  const row = model.policy.findLast(({ from }) => from <= totalE4)
  return {
    approvals_needed: row?.approvals ?? 0,
    self_approval: Number(row?.selfApproval),
    service_approval: Number(row?.services),
    role_needed: row?.role ?? null,
    passkey_needed: Number(row?.passkey),
  }
}

/** Gives an approval, which approves the order if no more are needed, or rejects or withdraws it. */
export function change(
  model: Model,
  name: 'approve' | 'reject' | 'withdraw',
  order: OrderRow,
  text: string | null,
  by: Change,
): void {
  const given = order.approvals_given + (name === 'approve' ? 1 : 0)
  const isLast = given === order.approvals_needed
  const [status, kind] = {
    approve: isLast ? ([1, 'approved'] as const) : ([0, 'approval-given'] as const),
    reject: [2, 'rejected'] as const,
    withdraw: [3, 'withdrawn'] as const,
  }[name]
  Object.assign(order, {
    status,
    approvals_given: given,
    approved_by:
      name === 'approve' ? [order.approved_by ?? [], by.account.name].flat().join(', ') : order.approved_by,
    role_held: name === 'approve' && holdsRole(by.account, order) ? 1 : order.role_held,
    version: order.version + 1,
    updated_at: by.now,
    updated_at_time_zone: by.zone ?? 'UTC',
    modified_by: by.account.name,
  })
  tell(model, kind, order, text, by)
}

export function tell(
  model: Model,
  kind: string,
  { id, version }: OrderRow,
  text: string | null,
  { account, now, zone }: Change,
): void {
  const event = { kind, version, at: now, zone: zone ?? 'UTC', by: account.name, byId: account.id, text }
  model.events.set(id, [...model.eventsOf(id), event])
}
