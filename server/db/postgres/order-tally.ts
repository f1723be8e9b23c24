import { sql, type Transaction } from 'kysely'
import type { Database } from '../tables.ts'

/**
 * Moves at most `limit` rows of `order_tally_changes` into `order_tally` and returns how many it moved. PostgreSQL
 * only (`defersTally`). Any number of instances may fold at once: each takes rows that no other has, and the rows of
 * the tally are always locked in the same order. Neither readers nor writers of orders wait for it, and a reader's
 * snapshot holds every change either here or there.
 */
export async function foldOrderTally(
  trx: Transaction<Database>,
  { limit }: { limit: number },
): Promise<number> {
  const { rows } = await sql<{ folded: number }>`
    with picked as materialized (
      select id from order_tally_changes order by id limit ${limit} for update skip locked
    ),
    taken as (
      delete from order_tally_changes using picked where order_tally_changes.id = picked.id
      returning day, status, orders, total_units, total_parts_e4
    ),
    folded as (
      insert into order_tally as tally (day, status, orders, total_units, total_parts_e4)
      select day, status, sum(orders), sum(total_units), sum(total_parts_e4)
      from (
        select -1 as day, status, orders, total_units, total_parts_e4 from taken
        union all
        select day, status, orders, total_units, total_parts_e4 from taken
      ) as changes
      group by day, status
      order by day, status
      on conflict (day, status) do update set
        orders = tally.orders + excluded.orders,
        total_units = tally.total_units + excluded.total_units,
        total_parts_e4 = tally.total_parts_e4 + excluded.total_parts_e4
    )
    select count(*) as folded from taken`.execute(trx)
  return rows[0]?.folded ?? 0
}
