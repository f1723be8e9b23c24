import { type Calls, type Connection, callsOf, type Send } from './calls.ts'
import { type Orders, ordersOf } from './orders.ts'

/** Every operation by its path, and those on orders by name. */
export interface Client extends Calls {
  orders: Orders
}

export function clientOf(connection: Connection, send: Send): Client {
  const calls = callsOf(connection, send)
  return { ...calls, orders: ordersOf(calls) }
}
