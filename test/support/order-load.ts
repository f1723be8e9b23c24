import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Client } from './client.ts'

/** The writes that the service had acknowledged at one moment. */
export interface Acknowledged {
  /** Ids of every order that was answered 201. */
  created: string[]
  /** The final ETag of each order that the load no longer changes. */
  settled: ReadonlyMap<string, string>
}

const writerCount = 8
/**
 * After this many orders, a writer pauses after each order, so that a long load does not grow without end.
 */
const ordersAtOnce = 100
const pauseMilliseconds = 100
const comparedAtOnce = 50

/** Callers that write until stopped: each creates orders and approves every other one. */
export class OrderLoad {
  readonly #created = new Set<string>()
  readonly #settled = new Map<string, string>()
  readonly #writers: Promise<unknown>
  #isOver = false

  constructor(caller: Client) {
    this.#writers = Promise.all(Array.from({ length: writerCount }, () => this.#work(caller)))
    // Reported when the load is ended.
    this.#writers.catch(() => undefined)
  }

  acknowledged(): Acknowledged {
    return { created: [...this.#created], settled: new Map(this.#settled) }
  }

  /** Resolves once this many more orders are settled. */
  async settles(count: number): Promise<void> {
    const enough = this.#settled.size + count
    while (this.#settled.size < enough && !this.#isOver) await setTimeout(5)
  }

  /** Lets every writer finish; rejects when a write was not acknowledged. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#writers
  }

  async #work(caller: Client): Promise<void> {
    try {
      for (let count = 0; !this.#isOver; count += 1) {
        await this.#writeOne(caller, count)
        if (this.#settled.size >= ordersAtOnce) await setTimeout(pauseMilliseconds)
      }
    } finally {
      this.#isOver = true
    }
  }

  async #writeOne(caller: Client, count: number): Promise<void> {
    const order = { customer: `load ${randomUUID()}`, total: 1 + (count % 1_000) / 4 }
    const created = await caller.post('/v1/orders', order, { 'time-zone': 'Europe/Berlin' })
    assert.equal(created.status, 201, created.text)
    this.#created.add(created.body.id)
    if (count % 2 === 1) {
      const approved = await caller.patch(`/v1/orders/${created.body.id}/approve`)
      assert.equal(approved.status, 204, approved.text)
    }
    this.#settled.set(created.body.id, count % 2 === 1 ? '"2"' : '"1"')
  }
}

/** The answer of an instance for each of the ids: status, ETag, and the order with its audit fields. */
export async function ordersAt(caller: Client, ids: Iterable<string>): Promise<unknown[]> {
  const orders: unknown[] = []
  const left = [...ids]
  while (left.length > 0) {
    const answers = left.splice(0, comparedAtOnce).map((id) => caller.get(`/v1/orders/${id}`))
    for (const { status, headers, body } of await Promise.all(answers)) {
      orders.push({ status, etag: headers.get('etag'), body })
    }
  }
  return orders
}
