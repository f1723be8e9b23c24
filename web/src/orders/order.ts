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
    documents?: number
    /** The version of the last change that was heard of, if the row was not read again since. */
    newest?: number
  }
export type OrderApprovals = components['schemas']['OrderApprovals']
export type OrderEvent = components['schemas']['OrderEvent']

export type OrderDocument = components['schemas']['OrderDocument']

/**
 * An order and its version, as the entity tag; absent where a proxy removed it. The documents were read after
 * it, so a change between the two reads makes the tag outdated.
 */
export interface VersionedOrder {
  order: Order & { number?: number | undefined }
  etag?: string | undefined
  documents: readonly OrderDocument[]
}

/** The version that an entity tag names. */
export function versionOf(etag: string | undefined): number | undefined {
  const [, version] = /^(?:W\/)?"(\d+)"$/.exec(etag ?? '') ?? []
  return version === undefined ? undefined : Number(version)
}

export const tagOf = (version: number) => `"${version}"`
