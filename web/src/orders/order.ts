import type { components } from '../../../client/src/schema.ts'

export type Order = components['schemas']['Order']
export type OrderSummary = components['schemas']['OrderSummary']
/** What a list says about an order: a summary, and whatever else was requested (fields.ts). */
export type ListedOrder = OrderSummary &
  Partial<Pick<Order, 'createdBy' | 'updatedAtUtc'>> & {
    number?: number
    approvedBy?: string | null
    approvalsMissing?: number
    mayApprove?: boolean
    version?: number
    passkey?: boolean
  }
export type OrderApprovals = components['schemas']['OrderApprovals']
export type OrderEvent = components['schemas']['OrderEvent']

/** An order and its version, as the entity tag; absent where a proxy removed it. */
export interface VersionedOrder {
  order: Order & { number?: number | undefined }
  etag?: string | undefined
}
