import { findOrders, findOrdersAsJson } from './orders/list/find.ts'

/** Every read that may take long by name: `db.query` takes its types from here. */
export const reads = { findOrders, findOrdersAsJson }

export type Reads = typeof reads
