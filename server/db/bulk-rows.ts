/** Columns of an `OrderRow`, in its order. */
export const orderColumns = [
  'id',
  'customer',
  'customer_folded',
  'total_e4',
  'status',
  'created_at',
  'created_at_time_zone',
  'created_by',
  'updated_at',
  'updated_at_time_zone',
  'modified_by',
  'version',
] as const

/** A row as an array: of millions of rows the names of the columns would be most of the work. */
export type OrderRow = readonly [
  id: string,
  customer: string,
  customerFolded: string,
  totalE4: number,
  status: number,
  createdAt: number,
  createdAtTimeZone: string,
  createdBy: string,
  updatedAt: number | null,
  updatedAtTimeZone: string | null,
  modifiedBy: string | null,
  version: number,
]

export interface BulkOrders {
  /** How many rows the batches have together. */
  count: number
  batches: Iterable<OrderRow[]>
  /** Told after each batch how many rows are on their way. */
  onRows: (rows: number) => void
}
