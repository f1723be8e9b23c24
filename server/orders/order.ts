/** `EOrderStatus`: numbers are only ever appended, never renumbered. */
export const orderStatus = { Pending: 0, Approved: 1 } as const
export type OrderStatus = (typeof orderStatus)[keyof typeof orderStatus]

export function nameOfStatus(status: OrderStatus): string {
  return Object.entries(orderStatus).find(([, number]) => number === status)?.[0] ?? String(status)
}

/** `EOrderDirection`. */
export const orderDirection = { Asc: 0, Desc: 1 } as const

/** Every way in which an order moves from one state to another; there is no other. */
export const transitions = {
  approve: { from: [orderStatus.Pending], to: orderStatus.Approved },
} as const satisfies Record<string, { from: readonly OrderStatus[]; to: OrderStatus }>

/** Totals are exact decimals: integer ten-thousandths, at most 99,999,999,999.9999. */
export const totalLimitE4 = 999_999_999_999_999

export interface Order {
  id: string
  customer: string
  /** Ten-thousandths. */
  totalE4: number
  status: OrderStatus
  /** Milliseconds since 1970 UTC, as are all instants here. */
  createdAt: number
  createdAtTimeZone: string | null
  updatedAt: number | null
  updatedAtTimeZone: string | null
  createdBy: string | null
  modifiedBy: string | null
  version: number
}
