import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from '#kysely'
import { RefreshTokens } from '../../server/auth/credentials/tokens/refresh-tokens.ts'
import type { Database } from '../../server/db/tables.ts'
import { sha256 } from '../../server/ids.ts'
import { type Answer, type Client, isUnanswered } from './client.ts'
import { testEngine, withRawDatabase } from './database.ts'
import { assertApprovalsKept, assertLogKept, type LoggedEvent, storedEvents } from './kept-log.ts'
import { type OrderRow, orderRow } from './orders.ts'
import { countedTally, keptTally } from './tally.ts'

/** One order as its caller sees it. */
interface OrderWrite {
  customer: string
  /** Idempotency-Key of the create. */
  key: string | undefined
  /** The id in the 201. */
  id: string | undefined
  fate: Fate
  decision: Progress
  note: Progress
}

type Progress = 'none' | 'sent' | 'acknowledged'

/** The fates of the orders of a history, in turn. */
const fates = [
  { path: 'approve', status: 1, body: undefined },
  { path: 'reject', status: 2, body: { reason: 'Ordered twice.' } },
  { path: 'withdraw', status: 3, body: undefined },
] as const
type Fate = (typeof fates)[number]

/** One chain of refresh tokens as its caller sees it. */
interface TokenChain {
  /** Every token that was handed out, in order. */
  tokens: string[]
  /** Idempotency-Key of the unanswered rotation of the last token, if any. */
  openKey: string | undefined
}

interface Stored {
  orders: Map<string, OrderRow[]>
  keys: Set<string>
  /** Keyed by order. */
  notes: Map<string, LoggedEvent[]>
  /** By id. */
  families: Map<string, { generation: number; token_hash: string }>
}

const zone = 'Europe/Berlin'

/**
 * The requests of callers and the answers of the service, for comparison with the database. Each caller
 * writes one request after another without pause, until one is not answered or is answered with 503.
 */
export class History {
  readonly orders: OrderWrite[] = []
  readonly chains: TokenChain[] = []
  /** Writes that were answered 2xx. */
  acknowledged = 0
  /** Writes that were answered 503. They may or may not have been done. */
  unavailable = 0
  readonly #userName: string
  /** The prefix of the customers of this history's orders. */
  readonly #prefix = `history ${randomUUID()}`

  constructor(userName: string) {
    this.#userName = userName
  }

  /** Resolves when every caller has finished; rejects with the first wrong answer. */
  async write(caller: Client, counts: { writers: number }): Promise<void> {
    const works = [
      ...Array.from({ length: counts.writers }, (_, index) => this.#writeOrders(caller, index % 2 === 0)),
      ...this.chains.map((chain) => this.#rotate(caller, chain)),
    ]
    for (const outcome of await Promise.allSettled(works)) {
      if (outcome.status === 'fulfilled' || isUnanswered(outcome.reason)) continue
      if (!(outcome.reason instanceof Unavailable)) throw outcome.reason
      this.unavailable += 1
    }
  }

  async #writeOrders(caller: Client, isKeyed: boolean): Promise<never> {
    for (;;) {
      const order: OrderWrite = {
        customer: `${this.#prefix} ${this.orders.length}`,
        key: isKeyed ? randomUUID() : undefined,
        id: undefined,
        fate: fates[this.orders.length % fates.length] ?? fates[0],
        decision: 'none',
        note: 'none',
      }
      this.orders.push(order)
      await this.#create(caller, order)
      order.note = 'sent'
      const noted = await caller.post(`/v1/orders/${order.id}/notes`, { text: `On ${order.id}.` })
      assertAnswered(noted, 201)
      order.note = 'acknowledged'
      order.decision = 'sent'
      const { path, body } = order.fate
      const decided = await caller.patch(`/v1/orders/${order.id}/${path}`, body, { 'time-zone': zone })
      assertAnswered(decided, 204)
      order.decision = 'acknowledged'
      this.acknowledged += 2
    }
  }

  async #create(caller: Client, order: OrderWrite): Promise<void> {
    const headers = { 'time-zone': zone, ...(order.key && { 'idempotency-key': order.key }) }
    const created = await caller.post('/v1/orders', { customer: order.customer, total: '12.5' }, headers)
    assertAnswered(created, 201)
    order.id = created.body.id
    this.acknowledged += 1
  }

  async #rotate(caller: Client, chain: TokenChain): Promise<never> {
    for (;;) {
      await this.#rotateOnce(caller, chain)
      this.acknowledged += 1
    }
  }

  async #rotateOnce(caller: Client, chain: TokenChain): Promise<void> {
    chain.openKey ??= randomUUID()
    const body = { refreshToken: chain.tokens.at(-1) }
    const answer = await caller.post('/v1/auth/token/refresh', body, { 'idempotency-key': chain.openKey })
    assertAnswered(answer, 200)
    chain.tokens.push(answer.body.refreshToken)
    chain.openKey = undefined
  }

  /**
   * Repeats unanswered requests, as a caller would: a create under a key is made or replayed, and a rotation
   * under a key gives its token, whether or not it had been written.
   */
  async repeatUnanswered(caller: Client): Promise<void> {
    for (const order of this.orders) {
      if (order.id === undefined && order.key !== undefined) await this.#create(caller, order)
    }
    for (const chain of this.chains) {
      if (chain.openKey !== undefined) await this.#rotateOnce(caller, chain)
    }
  }

  /**
   * Asserts that everything acknowledged is stored exactly once, and that nothing is stored in part or
   * without having been sent.
   */
  async assertKept(databaseUrl: string): Promise<void> {
    await withRawDatabase(databaseUrl, async (db) => {
      await assertSound(db)
      await assertLogKept(db)
      await assertApprovalsKept(db)
      const stored = await this.#stored(db)
      const sent = new Set(this.orders.map(({ customer }) => customer))
      const strays = [...stored.orders.keys()].filter((customer) => !sent.has(customer))
      assert.deepEqual(strays, [])
      for (const order of this.orders) this.#assertOrder(order, stored)
      for (const chain of this.chains) assertChain(chain, stored)
    })
  }

  #assertOrder(order: OrderWrite, stored: Stored): void {
    const rows = stored.orders.get(order.customer) ?? []
    assert.ok(rows.length <= 1, `${order.customer} is there ${rows.length} times`)
    if (order.key !== undefined) {
      assert.equal(stored.keys.has(order.key), rows.length === 1, `${order.customer} and its key`)
    }
    const [row] = rows
    if (order.id !== undefined) assert.equal(row?.id, order.id, `${order.customer} is lost`)
    if (row === undefined) return
    const isDecided = row.status !== 0
    if (order.decision !== 'sent') assert.equal(isDecided, order.decision === 'acknowledged', order.customer)
    const { id, created_at, created_by_id, updated_at } = row
    const isApproved = isDecided && order.fate.path === 'approve'
    assert.deepEqual(row, {
      ...orderRow({ id, customer: order.customer, total_e4: 125_000, created_at, created_by_id }),
      created_at_time_zone: zone,
      created_by: this.#userName,
      status: isDecided ? order.fate.status : 0,
      updated_at,
      updated_at_time_zone: isDecided ? zone : null,
      modified_by: isDecided ? this.#userName : null,
      version: isDecided ? 2 : 1,
      approvals_given: isApproved ? 1 : 0,
      approved_by: isApproved ? this.#userName : null,
    })
    assert.equal(updated_at !== null, isDecided)
    const notes = stored.notes.get(id) ?? []
    assert.ok(notes.length <= 1 && notes.every(({ text }) => text === `On ${id}.`), order.customer)
    if (order.note !== 'sent')
      assert.equal(notes.length, order.note === 'acknowledged' ? 1 : 0, order.customer)
  }

  async #stored(db: Kysely<Database>): Promise<Stored> {
    const orders = await readOrders(db)
    const keys = await db.selectFrom('idempotency_keys').select('key').execute()
    const families = await db
      .selectFrom('refresh_families')
      .select(['id', 'generation', 'token_hash'])
      .execute()
    return {
      orders: Map.groupBy(
        orders.filter(({ customer }) => customer.startsWith(this.#prefix)),
        ({ customer }) => customer,
      ),
      keys: new Set(keys.map(({ key }) => key)),
      notes: Map.groupBy(
        (await storedEvents(db)).filter(({ kind }) => kind === 'noted'),
        ({ subject_id: id }) => id,
      ),
      families: new Map(families.map((row) => [row.id, row])),
    }
  }
}

class Unavailable extends Error {}

function assertAnswered(answer: Answer, status: number): void {
  if (answer.status === 503) throw new Unavailable(answer.text)
  assert.equal(answer.status, status, answer.text)
}

/** Asserts that the last token works: an unanswered rotation has replaced it completely or not at all. */
function assertChain({ tokens, openKey }: TokenChain, stored: Stored): void {
  const last = tokens.at(-1) ?? ''
  const family = stored.families.get(new RefreshTokens(Buffer.alloc(32)).read(last)?.familyId ?? '')
  assert.ok(family, 'a family is lost')
  const isLast = family.token_hash === sha256(last)
  if (openKey === undefined) assert.ok(isLast, 'the last token is used up')
  assert.equal(family.generation, tokens.length + (isLast ? 0 : 1))
}

/** Asserts that the tally is exact and, on SQLite, that the file and its trigram index are intact. */
export async function assertSound(db: Kysely<Database>): Promise<void> {
  assert.deepEqual(await keptTally(db), countedTally(await readOrders(db)))
  if (testEngine !== 'sqlite') return
  const integrity = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db)
  assert.deepEqual(integrity.rows, [{ integrity_check: 'ok' }])
  assert.deepEqual((await sql`pragma foreign_key_check`.execute(db)).rows, [])
  await sql`insert into orders_search (orders_search, rank) values ('integrity-check', 1)`.execute(db)
  // Deferred work never outlasts its transaction.
  const deferral =
    await sql`select 1 from orders_search_deferral where indexed_to < 9223372036854775807`.execute(db)
  assert.deepEqual(deferral.rows, [])
}

/** The test's connection gives PostgreSQL's bigint as text. */
async function readOrders(db: Kysely<Database>): Promise<OrderRow[]> {
  const columns = Object.keys(orderRow()) as Exclude<keyof OrderRow, 'number'>[]
  const rows = await db.selectFrom('orders').select(columns).execute()
  const number = (value: number | null) => (value === null ? null : Number(value))
  return rows.map((row) => ({
    ...row,
    created_at: Number(row.created_at),
    updated_at: number(row.updated_at),
    total_e4: Number(row.total_e4),
  }))
}
