import { type Insertable, sql, type Transaction } from 'kysely'
import type { Database, IdempotencyKeysTable, OrdersTable } from '../tables.ts'

export interface GroupedOrder {
  order: Insertable<OrdersTable>
  /** With the result that it gives from now on; null for an order without a key. */
  key: Insertable<IdempotencyKeysTable> | null
}

/**
 * Stores the orders, each with its key, in one statement: those whose key is new. Returns their ids. PostgreSQL only. A
 * key may be given once. Keys are claimed in one order, so that two groups wait for each other in one direction only.
 */
export async function insertOrdersTogether(
  trx: Transaction<Database>,
  orders: GroupedOrder[],
): Promise<Set<string>> {
  const given = orders.map(({ order, key }) => ({ ...key, ...order }))
  const { rows } = await sql<{ id: string }>`
    with given as materialized (
      select * from json_to_recordset(${JSON.stringify(given)}) as given (
        id uuid, customer text, customer_folded text, total_e4 bigint, status integer, created_at bigint,
        created_at_time_zone text, created_by text, updated_at bigint, updated_at_time_zone text, modified_by text,
        version integer, principal_id integer, operation text, key text, fingerprint text, result text,
        expires_at bigint)
    ),
    claimed as (
      insert into idempotency_keys
        (principal_id, operation, key, fingerprint, result, expires_at)
      select principal_id, operation, key, fingerprint, result, expires_at
      from given where key is not null order by principal_id, operation, key
      on conflict do nothing
      returning principal_id, operation, key
    )
    insert into orders
      (id, customer, customer_folded, total_e4, status, created_at, created_at_time_zone, created_by,
        updated_at, updated_at_time_zone, modified_by, version)
    select id, customer, customer_folded, total_e4, status, created_at, created_at_time_zone, created_by,
      updated_at, updated_at_time_zone, modified_by, version
    from given
    where key is null or (principal_id, operation, key) in (select principal_id, operation, key from claimed)
    returning id`.execute(trx)
  return new Set(rows.map(({ id }) => id))
}
