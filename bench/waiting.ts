import { sql } from '../server/db/kysely.ts'
import { withRawDatabase } from '../test/support/database.ts'
import { type Line, print, printTable, short, toLine } from './report.ts'
import { interleave, type RoundOptions } from './rounds.ts'
import { listConnections, type NamedScenario, postOrders } from './scenarios.ts'
import { type Site, startService } from './site.ts'

/** How many orders wait for approval: one in a hundred. */
const waitingShare = 0.01

/**
 * Leaves few orders pending, scattered over the table. Each needs two approvals, was created by one of the
 * callers and may have one approval, so that every rule is checked.
 */
function leaveWaiting({ databaseUrl, orders }: Site): Promise<void> {
  return withRawDatabase(databaseUrl, async (db) => {
    const callers = await db.selectFrom('principals').select('id').orderBy('id').execute()
    const first = sql.lit(callers[0]?.id ?? 0)
    // The last digits of an id are random.
    const drawn = (from: number) =>
      sql`abs(total_e4 + ${sql.lit(from)}) % ${sql.lit(callers.length)} + ${first}`
    await sql`update orders set status = 1, approvals_given = 1 where status = 0 and id not in (
      select id from orders where status = 0
      order by substr(cast(id as text), 25), id limit ${Math.floor(orders * waitingShare)})`.execute(db)
    await sql`update orders set approvals_needed = 2, approvals_given = total_e4 % 2, self_approval = 0,
      created_by_id = ${drawn(0)} where status = 0`.execute(db)
    await sql`insert into order_approvals (order_id, account_id)
      select id, ${drawn(1)} from orders where approvals_given = 1`.execute(db)
  })
}

/**
 * Measures the first page and the count of waiting orders during creates, each of which makes totals
 * be counted again.
 */
export async function measureWaiting(title: string, site: Site, options: RoundOptions): Promise<Line[]> {
  await leaveWaiting(site)
  const server = await startService(site)
  const beside = { server, requests: () => postOrders(site), connections: 1, pauseMilliseconds: 10 }
  const scenarios = ['status=Pending', 'waits:me'].map(
    (filter): NamedScenario => ({
      name: filter,
      server,
      requests: () => ({
        kind: 'get',
        paths: [`/v1/orders?pageSize=20&filter=${encodeURIComponent(filter)}`],
        headers: site.callers.bearers,
      }),
      connections: listConnections,
      beside,
    }),
  )
  try {
    const results = await interleave(scenarios, options)
    const lines = scenarios.map((scenario) => toLine(scenario, results.get(scenario.name) ?? []))
    printTable(title, lines)
    const [status, waits] = lines.map(({ p99 }) => p99)
    print(`p99 of waits:me: ${short((waits ?? 0) / (status ?? Number.NaN))} times that of status=Pending`)
    return lines
  } finally {
    await server.stop()
  }
}
