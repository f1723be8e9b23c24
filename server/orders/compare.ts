import { type LogLine, valueIn } from '../../proof/line.ts'
import { eventsOfKinds } from '../audit/audit.ts'
import type { Db } from '../db/tables.ts'
import { nameOfStatus, type OrderEventKind, type OrderStatus, statusAfter } from './order.ts'

/** The parts of an order that its events also have. */
export interface ComparedOrder {
  id: string
  customer: string
  total: number
  status: number
}

interface Compared extends Omit<ComparedOrder, 'id'> {
  isCreated: boolean
  /** Whether an event leads to the status. */
  isExplained: boolean
  /** The status after the last event. */
  last: number | undefined
}

/**
 * Compares orders with the log. First add every order, then pass every line of the log. Orders must show
 * the first `boundSize` events; later ones may have happened after the orders were read. Keeps all orders
 * in memory.
 */
export class OrderComparison {
  readonly #orders = new Map<string, Compared>()
  readonly #boundSize: number
  #difference: string | undefined
  /** Orders that only later events create. */
  #missing = 0

  constructor(boundSize: number) {
    this.#boundSize = boundSize
  }

  get size(): number {
    return this.#orders.size
  }

  /** Orders that later events created or changed again. */
  get newer(): number {
    return (
      this.#missing +
      this.#orders.values().reduce((sum, { last, status }) => sum + (last === status ? 0 : 1), 0)
    )
  }

  /** False if the order was added before. */
  add({ id, ...order }: ComparedOrder): boolean {
    if (this.#orders.has(id)) return false
    this.#orders.set(id, { ...order, isCreated: false, isExplained: false, last: undefined })
    return true
  }

  see(line: Pick<LogLine, 'sequence' | 'kind' | 'subject' | 'data' | 'clear'>): void {
    const { sequence, kind, subject, data } = line
    if (subject.kind !== 'order') return
    const order = this.#orders.get(subject.id)
    const isBound = sequence <= this.#boundSize
    if (order === undefined) {
      if (isBound)
        this.#difference ??= `order ${subject.id} is missing: event ${sequence} (${kind}) is about it`
      else if (kind === 'created') this.#missing += 1
      return
    }
    const customer = valueIn(line, 'customer')
    const isOther = customer !== null && customer !== order.customer
    if (isOther || Number(data.total) !== order.total) {
      this.#difference ??= `order ${subject.id} has another customer or total than event ${sequence} (${kind})`
    }
    const status = Object.hasOwn(statusAfter, kind) ? statusAfter[kind as OrderEventKind] : null
    if (status === null) return
    order.isCreated ||= kind === 'created'
    order.isExplained = status === order.status || (!isBound && order.isExplained)
    order.last = status
  }

  /**
   * The first difference, or undefined. If orders come from the database, unsealed events can explain them,
   * too.
   */
  async difference(db?: Db): Promise<string | undefined> {
    if (this.#difference !== undefined) return this.#difference
    for (const [id, order] of this.#orders) {
      if (db !== undefined && !isWhole(order)) await this.#seeLater(db, id)
      if (this.#difference !== undefined) return this.#difference
      if (!order.isCreated) return `order ${id} has no event of its creation`
      if (!order.isExplained) {
        const [is, was] = [order.status, order.last ?? order.status].map((status) =>
          nameOfStatus(status as OrderStatus),
        )
        return `order ${id} is ${is}, but the last event of its status says ${was}`
      }
    }
    return undefined
  }

  async #seeLater(db: Db, id: string): Promise<void> {
    const subject = { kind: 'order', id }
    const events = await eventsOfKinds(db, subject, Object.keys(statusAfter))
    for (const { sequence, kind, data, clear } of events) {
      const place = sequence ?? Number.POSITIVE_INFINITY
      if (place > this.#boundSize)
        this.see({ sequence: place, kind, subject, data: JSON.parse(data), clear: JSON.parse(clear) })
    }
  }
}

const isWhole = ({ isCreated, isExplained }: Compared) => isCreated && isExplained
