import assert from 'node:assert/strict'
import type { Selectable } from '#kysely'
import { type Kysely, sql } from '#kysely'
import { spellLine } from '../../proof/line.ts'
import { type SignedHead, verifyLog } from '../../proof/log.ts'
import { type Event, eventRow } from '../../server/audit/audit.ts'
import { sealedLine, toldBy } from '../../server/audit/events/line.ts'
import type { Database, EventColumns } from '../../server/db/tables.ts'
import { decimalOf, type OrderStatus, orderStatus } from '../../server/orders/order.ts'
import { rulesOf } from '../../server/orders/rules.ts'

/** An event with its names and its text, and with its place in the log once it is sealed. */
export interface LoggedEvent extends EventColumns {
  by: string
  for: string | null
  text: string | null
  sequence: number | null
  hash: string | null
}

/** The kind of the last event of an order, by its status. */
const lastChange: Record<OrderStatus, string[]> = {
  [orderStatus.Pending]: ['created', 'approval-given'],
  [orderStatus.Approved]: ['approved'],
  [orderStatus.Rejected]: ['rejected'],
  [orderStatus.Withdrawn]: ['withdrawn'],
}

/**
 * Every event (of the subject) in the order of the log, then those not yet sealed; all read at one moment.
 */
export async function storedEvents(db: Kysely<Database>, subject?: string): Promise<LoggedEvent[]> {
  const ofSubject = subject === undefined ? sql`` : sql`where subject_id = ${subject}`
  const columns = sql.join(Object.keys(eventRow(stampOfNobody, noEvent)).map((column) => sql.ref(column)))
  const { rows } = await sql<LoggedEvent>`
    select * from (
      select ${columns}, sequence, hash, 0 as is_waiting, sequence as place from events
      union all
      select ${columns}, null, null, 1, number from unsealed_events
    ) as stored ${ofSubject} order by is_waiting, place`.execute(db)
  assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length, 'two events have one id')
  // The test's connection gives PostgreSQL's bigint as text.
  return rows.map((row) => {
    const {
      is_waiting: _,
      place: __,
      ...event
    } = row as LoggedEvent & Record<'is_waiting' | 'place', unknown>
    const { clear: _clear, ...told } = toldBy(row)
    const sequence = row.sequence === null ? null : Number(row.sequence)
    return { ...event, ...told, at: Number(row.at), sequence }
  })
}

const stampOfNobody = { eventId: '', seed: '', nowMilliseconds: 0, timeZone: null, by: '', byId: null }
const noEvent: Event = { kind: 'erased', subject: { kind: 'log', id: '' }, facts: {} }

/**
 * Asserts that the log is whole up to its head without duplicates, and that every change of an order has
 * exactly one event, with the order's time and author. For databases whose orders all came through the
 * service.
 */
export async function assertLogKept(db: Kysely<Database>): Promise<void> {
  const events = await storedEvents(db)
  await assertWholeTree(db)
  const ids = new Set(events.map(({ id }) => id))
  assert.equal(ids.size, events.length, 'an event is there twice')
  const byOrder = Map.groupBy(
    events.filter(({ subject_kind: kind }) => kind === 'order'),
    ({ subject_id: id }) => id,
  )
  const orders = await db.selectFrom('orders').selectAll().execute()
  assert.equal(byOrder.size, orders.length, 'orders with events, and orders')
  for (const order of orders) assertOrderLogged(inNumbers(order), byOrder.get(order.id) ?? [])
}

/** Asserts that an order counts the approvals of its events, and who took part in them. */
export async function assertApprovalsKept(db: Kysely<Database>): Promise<void> {
  const known = await db.selectFrom('order_approvals').selectAll().execute()
  const events = (await storedEvents(db)).filter(
    ({ kind }) => kind === 'approved' || kind === 'approval-given',
  )
  const parts = events.flatMap(({ subject_id: order, by_id: by, for_id: absent }) =>
    [by, absent].filter((account) => account !== null).map((account) => `${order} ${account}`),
  )
  assert.deepEqual(
    known.map(({ order_id: order, account_id: account }) => `${order} ${account}`).sort(),
    parts.sort(),
  )
  const counts = Map.groupBy(events, ({ subject_id: id }) => id)
  const orders = await db.selectFrom('orders').select(['id', 'approvals_given']).execute()
  for (const { id, approvals_given: given } of orders) assert.equal(given, counts.get(id)?.length ?? 0, id)
}

/** Asserts that sealed lines are the leaves of the tree of the head. Clocks of tests may go back. */
export async function assertWholeTree(db: Kysely<Database>): Promise<void> {
  const before = await headOfLog(db)
  const {
    head,
    backInTime: _,
    restores: __,
    signed: ___,
    ...report
  } = await verifyLog(exported(await storedEvents(db)), [before])
  assert.deepEqual(report, { fault: null, checkpoints: ['agrees'], lost: null })
  const after = await headOfLog(db)
  assert.ok(head.size <= after.size, 'lines behind the head of the log')
  if (head.size === after.size) assert.equal(head.root, after.root)
}

async function headOfLog(db: Kysely<Database>): Promise<SignedHead> {
  const { era, size, root } = await db.selectFrom('log_head').selectAll().executeTakeFirstOrThrow()
  return { era, size: Number(size), root }
}

/** The bytes of an export of the sealed log. */
async function* exported(events: LoggedEvent[]): AsyncGenerator<Uint8Array> {
  for (const event of events) {
    const { sequence, hash } = event
    if (sequence === null || hash === null) continue
    yield Buffer.from(`${spellLine(sealedLine({ ...event, sequence, hash }))}\n`)
  }
}

function inNumbers(order: Selectable<Database['orders']>): Selectable<Database['orders']> {
  const { total_e4, created_at, updated_at } = order
  return {
    ...order,
    total_e4: Number(total_e4),
    created_at: Number(created_at),
    updated_at: updated_at === null ? null : Number(updated_at),
  }
}

function assertOrderLogged(order: Selectable<Database['orders']>, events: LoggedEvent[]): void {
  const changes = events.filter(({ kind }) => kind !== 'noted')
  const versions = changes.map(({ version }) => version)
  assert.deepEqual(
    versions,
    Array.from({ length: order.version }, (_, index) => index + 1),
    `${order.id}: ${events.map(({ kind }) => kind)}`,
  )
  const data = { total: decimalOf(order.total_e4) }
  const stamped = { number: Number(order.number), rules: rulesOf(order), ownerId: order.created_by_owner_id }
  for (const event of events) {
    const { program: _, role: __, ...logged } = JSON.parse(event.data)
    assert.equal(JSON.parse(event.clear).customer.value, order.customer)
    const decided = ['approval-given', 'approved', 'rejected'].includes(event.kind) ? { documents: [] } : {}
    assert.deepEqual(logged, event.kind === 'created' ? { ...data, ...stamped } : { ...data, ...decided })
  }
  // A note follows the change whose version it names.
  const seen = events.map(({ version }) => version ?? 0)
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
    order.id,
  )
  const [first, last] = [changes[0], changes.at(-1)]
  assert.ok(
    lastChange[order.status as OrderStatus]?.includes(last?.kind ?? ''),
    `${order.status} by ${last?.kind}`,
  )
  assert.deepEqual(
    [first?.kind, first?.by, first?.by_id, first?.at, first?.at_time_zone],
    ['created', order.created_by, order.created_by_id, order.created_at, order.created_at_time_zone],
  )
  const stamp = order.version === 1 ? [null, null, null] : [last?.by, last?.at, last?.at_time_zone]
  assert.deepEqual(stamp, [order.modified_by, order.updated_at, order.updated_at_time_zone])
}
