import { hasAccounts } from '../auth/accounts/store.ts'
import { systemClock } from '../clock.ts'
import type { AppDatabase } from '../db/port.ts'
import { makeOrders, type People } from '../demo/orders.ts'
import { countByStatus } from '../orders/tally.ts'
import type { Invocation, Outcome } from './command.ts'
import { withDatabase } from './database.ts'
import { Refused, UsageError } from './failures.ts'
import { grouped, progressPrinter } from './progress.ts'

/** No account has a colon in its name: the filter `createdBy=seed:*` tells these orders from real ones. */
const people: People = {
  creators: ['seed:operator', 'seed:operator', 'seed:operator', 'seed:admin', 'seed:service'],
  approver: 'seed:admin',
}
const greatestCount = 100_000_000
const defaultDays = 365
/** In one statement and one transaction. */
const batchRows = 1_000

/** Fills a database with invented orders; one that people work with only with --yes. */
export async function runSeed(invocation: Invocation): Promise<Outcome> {
  const count = wholeNumber(invocation, 'orders', greatestCount)
  const days = wholeNumber(invocation, 'days', 3_650, defaultDays)
  const startedAt = performance.now()
  const total = await withDatabase(invocation, async (db) => {
    if (!invocation.switches.has('yes')) await refuseInUse(db)
    const tell = progressPrinter(
      invocation.switches.has('json'),
      (progress: { rows: number; of: number }) =>
        `${grouped(progress.rows)} of ${grouped(progress.of)} orders`,
    )
    let added = 0
    const wanted = { count, days, nowMilliseconds: systemClock(), people, batchRows }
    for (const made of makeOrders(wanted)) {
      await db.write('addOrders', made)
      // A service would else begin with millions of events to seal.
      await db.write('sealEvents', { limit: made.events.length })
      added += made.orders.length
      tell({ rows: added, of: count })
    }
    const counts = await countByStatus(db.read)
    return [...counts.values()].reduce((sum, ofStatus) => sum + ofStatus, 0)
  })
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  return {
    value: { added: count, total, seconds },
    text: `Added ${grouped(count)} orders in ${seconds} s; there are ${grouped(total)} now.`,
    hint: 'The filter createdBy=seed:* finds them: no account has such a name.',
  }
}

async function refuseInUse(db: AppDatabase): Promise<void> {
  if (!(await hasAccounts(db.read, false))) return
  throw new Refused(
    'database-in-use',
    'the database has accounts that are not demo accounts, and invented orders would stand among real ones;' +
      ' nothing was added (--yes adds them all the same)',
  )
}

function wholeNumber(
  invocation: Invocation,
  name: 'orders' | 'days',
  greatest: number,
  absent?: number,
): number {
  const text = invocation.texts[name]
  if (text === undefined && absent !== undefined) return absent
  if (text === undefined) throw new UsageError(`--${name} is missing`)
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (value >= 1 && value <= greatest) return value
  throw new UsageError(`--${name} takes a whole number from 1 to ${grouped(greatest)}`)
}
