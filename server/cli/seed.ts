import { hasAccounts } from '../auth/accounts/store.ts'
import { systemClock } from '../clock.ts'
import type { AppDatabase } from '../operations.ts'
import { countByStatus } from '../orders/tally.ts'
import type { Invocation, Outcome } from './command.ts'
import { withDatabase } from './database.ts'
import { Refused, UsageError } from './failures.ts'
import { makeOrders, seedCreatorPrefix } from './seed-orders.ts'

const greatestCount = 100_000_000
const defaultDays = 365
/** In one statement and one transaction. */
const batchRows = 1_000
const progressIntervalMilliseconds = 1_000

/** Fills a database with invented orders; one that people work with only when it is told to. */
export async function runSeed(invocation: Invocation): Promise<Outcome> {
  const count = wholeNumber(invocation, 'orders', greatestCount)
  const days = wholeNumber(invocation, 'days', 3_650, defaultDays)
  const startedAt = performance.now()
  const total = await withDatabase(invocation, async (db) => {
    if (!invocation.switches.has('yes')) await refuseInUse(db)
    const onRows = progressPrinter(count, invocation.switches.has('json'))
    let added = 0
    for (const orders of makeOrders({ count, days, nowMilliseconds: systemClock(), batchRows })) {
      await db.write('addOrders', orders)
      added += orders.length
      onRows(added)
    }
    const counts = await countByStatus(db.read)
    return [...counts.values()].reduce((sum, ofStatus) => sum + ofStatus, 0)
  })
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  return {
    value: { added: count, total, seconds },
    text: `Added ${grouped(count)} orders in ${seconds} s; there are ${grouped(total)} now.`,
    hint: `The filter createdBy=${seedCreatorPrefix}* finds them: no account has such a name.`,
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

/** At most one line a second on standard error; with `json` each is one JSON value. */
function progressPrinter(of: number, json: boolean): (rows: number) => void {
  let nextAt = performance.now() + progressIntervalMilliseconds
  return (rows) => {
    const now = performance.now()
    if (now < nextAt) return
    nextAt = now + progressIntervalMilliseconds
    const line = json
      ? JSON.stringify({ progress: { rows, of } })
      : `${grouped(rows)} of ${grouped(of)} orders`
    process.stderr.write(`${line}\n`)
  }
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

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}
