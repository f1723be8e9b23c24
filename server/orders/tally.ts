import { sql } from '#kysely'
import { prepared } from '../db/prepared.ts'
import { type Db, tallySpans } from '../db/tables.ts'

export const countsByStatus = sql<{ status: number; orders: number }>`
    select status, cast(sum(orders) as bigint) as orders
    from (
      select status, orders from order_tally where span = ${sql.lit(tallySpans.always)}
      union all
      select status, orders from order_tally_changes
    ) as tally
    group by status`

const selectCounts = prepared(() => countsByStatus)

/** How many orders have each status, exactly, from the tally alone. A status without orders is left out. */
export async function countByStatus(db: Db): Promise<Map<number, number>> {
  const { rows } = await selectCounts(db, {})
  return new Map(rows.filter(({ orders }) => orders > 0).map(({ status, orders }) => [status, orders]))
}
