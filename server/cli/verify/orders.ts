import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { linesOf } from '../../../proof/log.ts'
import type { Head } from '../../../proof/log-tree.ts'
import type { ReadableDatabase } from '../../db/port.ts'
import { type ComparedOrder, OrderComparison } from '../../orders/compare.ts'
import { exportOrders } from '../../orders/export/export.ts'
import { Refused } from '../failures.ts'
import type { Kept } from './checkpoints.ts'

/** The orders are read after the head, so they must show every event that it covers. */
export async function ordersIn(
  db: ReadableDatabase,
  { size }: Head,
  caller: string,
): Promise<OrderComparison> {
  const request = {
    type: 'application/jsonl',
    bom: false,
    filter: null,
    sortKey: 'id',
    direction: 'asc',
  } as const
  const lines = Readable.from(exportOrders(db, request, caller), { objectMode: false })
  return compareOrders(lines, 'the database', size)
}

/** A file must reflect all events up to the newest checkpoint, or all events if there is none. */
export function ordersOf(file: string, kept: readonly Kept[]): Promise<OrderComparison> {
  const era = Math.max(...kept.map((each) => each.era))
  const sizes = kept.filter((each) => each.era === era).map(({ size }) => size)
  const size = kept.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...sizes)
  return compareOrders(createReadStream(file), file, size)
}

/** Reads orders in JSON Lines, as an export of the list has them. */
async function compareOrders(bytes: Readable, name: string, size: number): Promise<OrderComparison> {
  const comparison = new OrderComparison(size)
  let number = 0
  for await (const line of linesOf(bytes)) {
    number += 1
    const order = orderOf(line)
    if (order === undefined || !comparison.add(order)) {
      const reason = order === undefined ? 'is not an order in JSON Lines' : `repeats the order ${order.id}`
      throw new Refused('bad-orders', `${name}:${number} ${reason}`)
    }
  }
  return comparison
}

/** Undefined if the line is not an order or is incomplete. */
function orderOf(line: Uint8Array): ComparedOrder | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(line)
    const { id, customer, total, status } = JSON.parse(text)
    const isOrder =
      text.endsWith('\n') &&
      typeof id === 'string' &&
      typeof customer === 'string' &&
      typeof total === 'number' &&
      typeof status === 'number'
    return isOrder ? { id, customer, total, status } : undefined
  } catch {
    return undefined
  }
}
