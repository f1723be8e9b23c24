import { sql } from '#kysely'
import { ofEngine } from '../../db/engine.ts'
import { prepared } from '../../db/prepared.ts'
import { type Db, tallySpans } from '../../db/tables.ts'
import { awaitingApproval, type OrderStatus, type OrderSummary } from '../order.ts'
import * as postgres from './postgres.ts'
import * as sqlite from './sqlite.ts'

/** The orders of one status, of one day or of all days. */
export interface Sum {
  count: number
  /** Ten-thousandths, exactly: a sum may exceed what a number holds. */
  totalE4: bigint
}

/** By status. A status without orders is left out. */
export type Sums = Map<number, Sum>

export const oldestPendingLimit = 5

/** A row of sums, or an order, which has an id. */
interface OverviewRow {
  id: string | null
  customer: string
  total_e4: number
  created_at: number
  /** Null for an order. */
  kind: 'always' | 'day' | 'edge' | 'change' | null
  /** The part of the span, or the number of the edge. */
  part: number
  status: number
  orders: number
  units: string
  parts_e4: string
}

interface Bounds {
  firstDay: number
  lastDay: number
  /** JSON: the number of each edge, and the quarters of an hour at which it begins and ends. */
  edges: string
}

const sums = (kind: OverviewRow['kind']) => sql`select null, null, null, null, ${sql.lit(kind)} as kind`
const summed = sql`cast(sum(orders) as bigint), cast(sum(total_units) as text), cast(sum(total_parts_e4) as text)`

/**
 * One statement, so one snapshot. Its cost depends on how many days are asked for and how many changes are
 * not merged, never on how many orders there are. The orders come first because PostgreSQL takes the type of
 * a column from the first part of a union. With `=` in place of `between` it would walk all orders by id.
 */
const selectOverview = prepared(
  (db, { firstDay, lastDay, edges }: Bounds) => sql<OverviewRow>`
    select id, customer, total_e4, created_at, null as kind, null as part, status, null as orders, null as units,
      null as parts_e4
    from (
      select id, customer, total_e4, created_at, status from orders
      where status between ${sql.lit(awaitingApproval)} and ${sql.lit(awaitingApproval)}
      order by status, id limit ${sql.lit(oldestPendingLimit)}
    ) as oldest
    union all
    ${sums('always')}, part, status, orders, cast(total_units as text), cast(total_parts_e4 as text)
    from order_tally where span = ${sql.lit(tallySpans.always)}
    union all
    ${sums('day')}, part, status, orders, cast(total_units as text), cast(total_parts_e4 as text)
    from order_tally where span = ${sql.lit(tallySpans.day)} and part >= ${firstDay} and part <= ${lastDay}
    union all
    ${sums('edge')}, number, status, ${summed}
    from (${ofEngine(db, { sqlite, postgres }).edgesIn(edges)}) as edges cross join order_tally
    where span = ${sql.lit(tallySpans.quarter)} and part >= since and part < until group by number, status
    union all
    ${sums('change')}, quarter, status, ${summed}
    from order_tally_changes group by quarter, status`,
)

const quartersOfDay = tallySpans.day / tallySpans.quarter

/** Where a day begins: in quarters of an hour, and the nearest UTC midnight in days, both since 1970. */
interface Start {
  quarter: number
  midnight: number
}

/**
 * Sums of all orders and of each day, and the oldest pending orders, oldest first. A day lasts from one of
 * `starts`, which are ascending instants, to the next.
 */
export async function readOverview(
  db: Db,
  starts: readonly number[],
): Promise<{ all: Sums; days: Sums[]; oldestPending: OrderSummary[] }> {
  const days = starts.map((start): Start => {
    const quarter = Math.floor(start / tallySpans.quarter)
    return { quarter, midnight: Math.round(quarter / quartersOfDay) }
  })
  const edges = days.flatMap(({ quarter, midnight }, number) => {
    const [since, until] = [quarter, midnight * quartersOfDay].sort((one, other) => one - other)
    return since === until ? [] : [[number, since, until]]
  })
  const { rows } = await selectOverview(db, {
    firstDay: days[0]?.midnight ?? 0,
    lastDay: (days.at(-1)?.midnight ?? 0) - 1,
    edges: JSON.stringify(edges),
  })
  const oldestPending = rows.flatMap((row) => (row.id === null ? [] : [toSummary(row, row.id)]))
  return {
    ...addUp(rows, days),
    // The parts of a union come in any order.
    oldestPending: oldestPending.sort((a, b) => (a.id < b.id ? -1 : 1)),
  }
}

/**
 * Adds up whole UTC days. The orders between the start of a day and the nearest UTC midnight move from one
 * day to its neighbour.
 */
function addUp(rows: readonly OverviewRow[], starts: readonly Start[]): { all: Sums; days: Sums[] } {
  const all: Sums = new Map()
  const days: Sums[] = starts.slice(1).map(() => new Map())
  for (const row of rows) {
    const { kind, part } = row
    if (kind === 'always' || kind === 'change') add(all, row)
    if (kind === 'day') add(days[starts.findLastIndex(({ midnight }) => midnight <= part)], row)
    if (kind === 'change') add(days[starts.findLastIndex(({ quarter }) => quarter <= part)], row)
    if (kind === 'edge') {
      const { quarter, midnight } = starts[part] as Start
      const sign = quarter < midnight * quartersOfDay ? -1 : 1
      add(days[part - 1], row, sign)
      add(days[part], row, -sign)
    }
  }
  return { all, days }
}

/** Adds nothing if `sums` is undefined, as for a day outside the overview. */
function add(sums: Sums | undefined, { status, orders, units, parts_e4 }: OverviewRow, sign = 1): void {
  const { count, totalE4 } = sums?.get(status) ?? { count: 0, totalE4: 0n }
  const added = BigInt(units) * 10_000n + BigInt(parts_e4)
  sums?.set(status, { count: count + sign * orders, totalE4: totalE4 + BigInt(sign) * added })
}

function toSummary(row: OverviewRow, id: string): OrderSummary {
  const { customer, total_e4: total, created_at: createdAtUtc } = row
  return { id, customer, total, status: row.status as OrderStatus, createdAtUtc }
}
