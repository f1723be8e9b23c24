import { type RawBuilder, type SqlBool, sql } from '#kysely'
import { authoritiesOf, holds } from '../../caller/standing.ts'
import type { Db, Trx } from '../../db/tables.ts'
import { inEach, mayDecide } from '../conditions.ts'
import { columnOf, transitions } from '../order.ts'

/** A person who may read orders now. */
export interface Reader {
  id: number
  userName: string
  email: string
  timeZone: string | null
}

/** Undefined if the account is disabled, or may not read orders. */
export async function findReader(db: Db, id: number): Promise<Reader | undefined> {
  return db
    .selectFrom('users')
    .innerJoin('principals', 'principals.id', 'users.principal_id')
    .select(['principals.id', 'name as userName', 'email', 'time_zone as timeZone'])
    .where('principals.id', '=', id)
    .where('enabled', '=', 1)
    .where(holds('Orders.Read'))
    .executeTakeFirst()
}

export interface ListedOrder {
  id: string
  number: number
  customer: string
  /** Ten-thousandths. */
  total: number
}

export interface WaitingInput {
  byId: number
  nowMilliseconds: number
  /** Only these orders; null for all. */
  ids: readonly string[] | null
  /** An order that has waited since before this instant has waited long. */
  longBefore: number
}

/** How many orders a mail lists. */
export const listed = 20
/** Counting further could take long. */
export const countedLimit = 1_000

/** What waits for a person: the oldest, how many there are, up to a thousand, and how many of them long. */
export async function ordersThatWait(
  snapshot: Db,
  { byId, nowMilliseconds, ids, longBefore }: WaitingInput,
): Promise<{ orders: ListedOrder[]; count: number; longCount: number }> {
  const { permission } = transitions.approve
  const authorities = await authoritiesOf(snapshot, { byId, nowMilliseconds }, permission)
  const may = mayDecide('approve', inEach({ byId, isService: false }, authorities))
  const isAsked: RawBuilder<SqlBool> = ids === null ? sql`true` : sql`id in (${sql.join([null, ...ids])})`
  const waiting = sql`from orders where ${may} and ${isAsked}`
  const since = sql.raw(columnOf('waitingSince').expression)
  const { rows: orders } = await sql<ListedOrder>`select id, number, customer, total_e4 as total
    ${waiting} order by orders.id limit ${listed}`.execute(snapshot)
  const { rows } = await sql<{ count: number; longCount: number }>`select count(*) as count,
    count(case when since < ${longBefore} then 1 end) as "longCount"
    from (select ${since} as since ${waiting} limit ${countedLimit}) as waiting`.execute(snapshot)
  return { orders, count: Number(rows[0]?.count), longCount: Number(rows[0]?.longCount) }
}

export interface CreatedOrder extends ListedOrder {
  createdAt: number
  createdById: number | null
  /** The people who count as its creator. */
  creators: number[]
}

export async function findCreated(
  db: Db,
  events: readonly { subject_id: string }[],
): Promise<Map<string, CreatedOrder>> {
  if (events.length === 0) return new Map()
  const ids = new Set(events.map((event) => event.subject_id))
  const rows = await db
    .selectFrom('orders')
    .select(['id', 'number', 'customer', 'total_e4 as total', 'created_at as createdAt'])
    .select(['created_by_id as createdById', 'created_by_owner_id as ownerId'])
    .where('id', 'in', [...ids])
    .execute()
  return new Map(
    rows.map(({ ownerId, ...order }) => {
      const creators = [order.createdById, ownerId].filter((person) => person !== null)
      return [order.id, { ...order, creators }]
    }),
  )
}

/** Those of the people who want mail of this kind. */
export async function whoWant(
  trx: Trx,
  setting: 'decided' | 'noted',
  people: readonly number[],
): Promise<Set<number>> {
  const rows = await trx
    .selectFrom('mail_settings')
    .select('principal_id')
    .where('principal_id', 'in', [0, ...new Set(people)])
    .where(setting, '=', 1)
    .execute()
  return new Set(rows.map((row) => row.principal_id))
}
