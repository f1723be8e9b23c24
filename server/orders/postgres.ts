import { type Insertable, sql } from '#kysely'
import {
  type Database,
  type EventColumns,
  eventColumns,
  type Trx,
  tallySpanRows,
  tallySpans,
} from '../db/tables.ts'
import type { Job } from '../upkeep.ts'
import { orderColumns } from './order.ts'
import { ruleColumns, ruleNames, rules } from './rules.ts'

/** The row of an order without what the approval policy adds. */
export type NewOrderRow = Pick<Database['orders'], (typeof orderColumns)[number]>

const names = Object.keys(eventColumns)
const typedNames = Object.entries(eventColumns).map(([name, type]) => sql.raw(`${name} ${type}`))

/** The rules of a stored order as the event of its creation has them. */
const stampedRules = sql.join(
  ruleNames.flatMap((name) => {
    const column = sql.ref(rules[name].column)
    return [sql.lit(name), rules[name].kind === 'flag' ? sql`${column} = 1` : column]
  }),
)

const stampedData = sql`cast(cast(events.data as jsonb) || jsonb_build_object('number', stored.number,
  'ownerId', stored.created_by_owner_id, 'rules', jsonb_build_object(${stampedRules})) as text)`

interface GroupedOrder {
  order: NewOrderRow
  /** The event of its creation, without what the database adds to the order. */
  event: EventColumns
  /** The row of the idempotency key, with the result that it will return from now on; null without a key. */
  key: Insertable<Database['idempotency_keys']> | null
}

/**
 * Stores the orders whose key is new, each with its event and its key, in one statement, and returns their
 * ids. No two may have the same key. Keys are claimed in a fixed order, so that two groups cannot wait for
 * each other.
 */
export async function insertTogether(trx: Trx, orders: GroupedOrder[]): Promise<Set<string>> {
  const given = orders.map(({ order, key }) => ({ ...key, ...order }))
  const events = orders.map(({ event }) => event)
  const columns = sql.join(orderColumns.map((column) => sql.ref(column)))
  const { rows } = await sql<{ id: string }>`
    with given as materialized (
      select * from json_to_recordset(${JSON.stringify(given)}) as given (
        id uuid, customer text, customer_folded text, total_e4 bigint, status integer, created_at bigint,
        created_at_time_zone text, created_by text, created_by_id integer, updated_at bigint,
        updated_at_time_zone text, modified_by text, version integer, replaces uuid, principal_id integer, operation text, key text,
        fingerprint text, result text, expires_at bigint)
      where not exists (select 1 from users
        where users.principal_id = created_by_id and erased_at is not null)
    ),
    claimed as (
      insert into idempotency_keys
        (principal_id, operation, key, fingerprint, result, expires_at)
      select principal_id, operation, key, fingerprint, result, expires_at
      from given where key is not null order by principal_id, operation, key
      on conflict do nothing
      returning principal_id, operation, key
    ),
    stored as (
      insert into orders (${columns}, created_by_owner_id, ${ruleColumns}, approvals_given)
      select ${columns}, (select owner_id from clients where clients.principal_id = given.created_by_id), ${ruleColumns}, 0
      from given cross join lateral (
        select ${ruleColumns} from approval_policy
        where from_e4 <= given.total_e4 order by from_e4 desc limit 1
      ) as policy
      where key is null or (principal_id, operation, key) in (select principal_id, operation, key from claimed)
      returning id, number, created_by_owner_id, ${ruleColumns}
    ),
    recorded as (
      insert into unsealed_events (${sql.join(names.map((name) => sql.ref(name)))})
      select ${sql.join(names.map((name) => (name === 'data' ? stampedData : sql.ref(`events.${name}`))))}
      from json_to_recordset(${JSON.stringify(events)}) as events (${sql.join(typedNames)})
      join stored on stored.id = cast(events.subject_id as uuid)
    )
    select id from stored`.execute(trx)
  return new Set(rows.map(({ id }) => id))
}

/**
 * Moves at most `limit` rows of `order_tally_changes` into `order_tally` and returns how many. Instances may
 * merge at the same time: each takes different rows, and all lock the rows of the tally in the same order. No
 * reader or writer of orders waits for it, and a reader's snapshot holds every change once, in one table or
 * the other.
 */
async function mergeTallyChanges(trx: Trx, { limit }: { limit: number }): Promise<number> {
  const { rows } = await sql<{ merged: number }>`
    with picked as materialized (
      select id from order_tally_changes order by id limit ${limit} for update skip locked
    ),
    taken as (
      delete from order_tally_changes using picked where order_tally_changes.id = picked.id
      returning quarter, status, orders, total_units, total_parts_e4
    ),
    merged as (
      insert into order_tally as tally (span, part, status, orders, total_units, total_parts_e4)
      select span, quarter * ${sql.lit(tallySpans.quarter)} / span as part, status, sum(orders), sum(total_units),
        sum(total_parts_e4)
      from taken cross join (${sql.raw(tallySpanRows)}) as spans
      group by span, part, status
      order by span, part, status
      on conflict (span, part, status) do update set
        orders = tally.orders + excluded.orders,
        total_units = tally.total_units + excluded.total_units,
        total_parts_e4 = tally.total_parts_e4 + excluded.total_parts_e4
    )
    select count(*) as merged from taken`.execute(trx)
  return rows[0]?.merged ?? 0
}

/**
 * Every list adds up the changes not merged yet: at 2,000 writes a second some 4,000 rows, about a
 * millisecond.
 */
export const merging: Job = {
  name: 'mergeTallyChanges',
  everyMilliseconds: 2_000,
  batch: 2_000,
  pauseMilliseconds: 0,
  isNeeded: (db) => db.defersTally,
  run: mergeTallyChanges,
  failure: 'the tally of orders could not be brought up to date; trying again every two seconds',
}
