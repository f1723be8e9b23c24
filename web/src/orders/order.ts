import type { components } from '../../../client/src/schema.ts'

export type Order = components['schemas']['Order']
export type OrderSummary = components['schemas']['OrderSummary']
/** What a list tells of an order: more than a summary where it is asked to (fields.ts). */
export type ListedOrder = OrderSummary &
  Partial<Pick<Order, 'createdBy' | 'updatedAtUtc'>> & {
    approvedBy?: string | null
    approvalsGiven?: number
    approvalsMissing?: number
  }
export type OrderApprovals = components['schemas']['OrderApprovals']
export type OrderEvent = components['schemas']['OrderEvent']

/** An order and the version of it that was read, as its entity tag; absent where something on the way took it off. */
export interface VersionedOrder {
  order: Order
  etag?: string | undefined
}
